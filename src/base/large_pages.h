#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace saltus {

// An allocator for arrays that may become large and are written once, from front to back: there the
// system is asked for large pages, since making pages of 4 kB one by one takes longer than writing
// them.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
    const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
    void* memory = std::aligned_alloc(kPage, rounded);
    if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    madvise(memory, rounded, MADV_HUGEPAGE);  // a wish
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kLarge) {
      ::operator delete(memory);
    } else {
      std::free(memory);
    }
  }

  // resize() leaves numbers as they are: they are about to be written.
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }

  bool operator==(const LargePages&) const = default;

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20;
  static constexpr std::size_t kLarge = std::size_t{1} << 20;
};

}  // namespace saltus
