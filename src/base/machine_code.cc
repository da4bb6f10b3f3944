#include "base/machine_code.h"

#ifdef SALTUS_HAS_MACHINE_CODE
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace saltus {

#ifdef SALTUS_HAS_MACHINE_CODE

namespace {

bool is_switched_off() {
  const char* const setting = std::getenv("SALTUS_MACHINE_CODE");
  return setting != nullptr && std::string_view(setting) == "off";
}

}  // namespace

std::shared_ptr<const MachineCode> MachineCode::load(std::span<const std::uint8_t> code) {
  static const bool off = is_switched_off();
  if (off) return nullptr;
  void* memory =
      mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto result = std::make_shared<const MachineCode>(memory, code.size());
  std::copy(code.begin(), code.end(), static_cast<std::uint8_t*>(memory));
  // Never writable and executable at once.
  if (mprotect(memory, code.size(), PROT_READ | PROT_EXEC) != 0) return nullptr;
  return result;
}

MachineCode::~MachineCode() { munmap(memory_, size_); }

#else

std::shared_ptr<const MachineCode> MachineCode::load(std::span<const std::uint8_t>) {
  return nullptr;
}
MachineCode::~MachineCode() = default;

#endif

}  // namespace saltus
