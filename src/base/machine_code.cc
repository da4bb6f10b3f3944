#include "base/machine_code.h"

#ifdef SALTUS_HAS_MACHINE_CODE
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/kept_work.h"

namespace saltus {

#ifdef SALTUS_HAS_MACHINE_CODE

namespace {

bool is_switched_off() {
  const char* const setting = std::getenv("SALTUS_MACHINE_CODE");
  return setting != nullptr && std::string_view(setting) == "off";
}

// Code that earlier runs have loaded, by its bytes: equal ones do the same. Pages of their own make
// loading it again dear.
struct LoadedCode {
  std::unordered_map<std::string, std::shared_ptr<const MachineCode>> by_bytes;
};

std::shared_ptr<const MachineCode> load_anew(std::span<const std::uint8_t> code) {
  void* memory =
      mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto result = std::make_shared<const MachineCode>(memory, code.size());
  std::copy(code.begin(), code.end(), static_cast<std::uint8_t*>(memory));
  // Never writable and executable at once.
  if (mprotect(memory, code.size(), PROT_READ | PROT_EXEC) != 0) return nullptr;
  return result;
}

}  // namespace

std::shared_ptr<const MachineCode> MachineCode::load(std::span<const std::uint8_t> code) {
  static const bool off = is_switched_off();
  if (off) return nullptr;
  KeptWork* kept = KeptWork::current();
  if (kept == nullptr) return load_anew(code);
  constexpr std::size_t kMost = 10'000;
  auto& known = kept->table<LoadedCode>().by_bytes;
  if (known.size() >= kMost) known.clear();
  std::shared_ptr<const MachineCode>& place =
      known[std::string(reinterpret_cast<const char*>(code.data()), code.size())];
  if (place == nullptr) place = load_anew(code);
  return place;
}

MachineCode::~MachineCode() { munmap(memory_, size_); }

#else

std::shared_ptr<const MachineCode> MachineCode::load(std::span<const std::uint8_t>) {
  return nullptr;
}
MachineCode::~MachineCode() = default;

#endif

}  // namespace saltus
