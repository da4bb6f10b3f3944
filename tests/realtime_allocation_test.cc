// After its preparation the fixed-step engine allocates nothing, at events neither. Every
// allocation of the process passes through the functions below.

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "model/build.h"
#include "modelica/load.h"
#include "realtime/realtime_engine.h"

// glibc's own allocator under its internal names.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {
std::atomic<long> allocation_count{0};
}

extern "C" {
void* malloc(std::size_t size) {
  ++allocation_count;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocation_count;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++allocation_count;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocation_count;
  return __libc_memalign(alignment, size);
}
}

namespace saltus {
namespace {

TEST(RealtimeAllocation, StepsAllocateNothing) {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}};
  options.use_modelica_path = false;
  for (const char* name : {"Saltus.Examples.TwoMassClutch", "Saltus.Examples.AutomatonClutch",
                           "Saltus.Drivetrain.Examples.Rattle", "Saltus.Drivetrain.Examples.Discs",
                           "Saltus.Drivetrain.Examples.ThreeGears"}) {
    const HybridSystem system = build(load_modelica(name, options));
    RealtimeEngine engine(system, {.step = 2e-3, .stop_time = 3.0});
    std::vector<double> row(engine.output_names().size());
    int events = 0;
    const long before = allocation_count;
    for (int k = 0; k < 1500; ++k) {
      if ((engine.step() & kEventTaken) != 0) ++events;
      engine.read_outputs(row.data());
    }
    EXPECT_EQ(allocation_count - before, 0) << name;
    EXPECT_GT(events, 0) << name;
  }
}

}  // namespace
}  // namespace saltus
