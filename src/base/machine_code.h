#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#if defined(__x86_64__) && defined(__unix__)
#define SALTUS_HAS_MACHINE_CODE
#endif

namespace saltus {

// Instructions of the processor, in memory of their own that can be executed.
class MachineCode {
 public:
  // Null where the processor is not known, the system grants no executable memory, or the
  // environment variable SALTUS_MACHINE_CODE is "off"; then whoever asks does the work in another
  // way.
  static std::shared_ptr<const MachineCode> load(std::span<const std::uint8_t> code);

  MachineCode(void* memory, std::size_t size) : memory_(memory), size_(size) {}
  ~MachineCode();
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;

  // The function that begins at this byte.
  template <class Function>
  Function* entry(std::size_t offset = 0) const {
    return reinterpret_cast<Function*>(static_cast<std::uint8_t*>(memory_) + offset);
  }

 private:
  void* memory_;
  std::size_t size_;
};

}  // namespace saltus
