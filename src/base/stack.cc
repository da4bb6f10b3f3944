#include "base/stack.h"

#include <pthread.h>

#include <cstdint>
#include <exception>

namespace saltus {
namespace {

// What is left for functions that do not look, the way back through destructors included.
// Instrumented frames are several times as large.
constexpr std::uintptr_t kReserve = std::uintptr_t{512} * 1024;

// Lowest address that this thread may use; 0 where the system does not tell.
std::uintptr_t lowest_address() {
#if defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  return known ? reinterpret_cast<std::uintptr_t>(lowest) + kReserve : 0;
#else
  return 0;
#endif
}

struct Call {
  const std::function<void()>& work;
  std::exception_ptr thrown;

  void run() noexcept {
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  }
};

extern "C" void* run_call(void* call) {
  static_cast<Call*>(call)->run();
  return nullptr;
}

}  // namespace

bool stack_is_low() {
  thread_local const std::uintptr_t lowest = lowest_address();
  // Not the address of a variable: the sanitizer keeps variables elsewhere.
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < lowest;
}

void call_with_stack(std::size_t bytes, const std::function<void()>& work) {
  Call call{work, nullptr};
  pthread_attr_t attributes;
  pthread_t thread{};
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
              pthread_create(&thread, &attributes, run_call, &call) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (started) {
    pthread_join(thread, nullptr);
  } else {
    call.run();
  }
  if (call.thrown) std::rethrow_exception(call.thrown);
}

}  // namespace saltus
