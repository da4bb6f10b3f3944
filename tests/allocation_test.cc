// Nothing allocates between two events once a mode is warm. Every allocation of the process passes
// through the functions below; the sink notes their count whenever a point is stored, into memory
// taken beforehand.

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "simulate/simulate.h"

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

// operator new, Eigen and SuiteSparse all end here.
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
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  ++allocation_count;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? 12 : 0;
}
}

namespace saltus {
namespace {

struct Stored {
  double time = 0.0;
  ModeId mode;
  long count = 0;
};

class CountingSink : public ResultSink {
 public:
  CountingSink() { stored_.reserve(100'000); }
  void begin(const Trajectory&) override {}
  void store(double time, ModeId mode, const double*) override {
    stored_.push_back({time, mode, allocation_count.load()});
  }
  const std::vector<Stored>& stored() const { return stored_; }

 private:
  std::vector<Stored> stored_;
};

TEST(CountingSink, SeesAllocations) {
  const long before = allocation_count.load();
  const std::vector<double> a(10);
  void* b = std::malloc(static_cast<std::size_t>(before % 7 + 10));
  std::free(b);
  EXPECT_GE(allocation_count.load(), before + (a.empty() || b == nullptr ? 100 : 2));
}

struct Findings {
  std::size_t pairs = 0;  // of neighbouring points within one visit of a warm mode
  std::size_t allocating = 0;
  double first = -1.0;  // time of the first that allocates
  std::size_t visits = 0;
};

// A mode is warm after `warm` points of its first visit. An event is logged after its right limit
// is stored, so the counting starts at the first point after it.
Findings examine(const std::vector<Stored>& stored, std::size_t warm) {
  Findings f;
  std::vector<std::size_t> points_in(16, 0);
  for (std::size_t i = 1; i < stored.size(); ++i) {
    const Stored& a = stored[i - 1];
    const Stored& b = stored[i];
    const std::size_t seen = ++points_in[b.mode.index()];
    if (a.time == b.time) {
      ++f.visits;  // an event: its two sides
      continue;
    }
    if (seen <= warm || (i >= 2 && stored[i - 2].time == a.time)) continue;
    ++f.pairs;
    if (b.count != a.count) {
      ++f.allocating;
      if (f.first < 0.0) f.first = b.time;
    }
  }
  return f;
}

// A chain of n cells, nonlinear, each with a differential u and an algebraic current i, driven at
// one end; the drive is switched by the guards of two modes. Further guards are evaluated every
// step: one that never comes near zero, one that comes near it in every period without reaching it
// (the isolator has to look), one that reads a derivative and one that reads an algebraic unknown.
HybridSystem chain(int cells) {
  HybridSystem system("chain");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr v = system.variable("v", {.start = 0.0});
  std::vector<Expr> u, i;
  for (int k = 0; k < cells; ++k) {
    u.push_back(system.variable("u" + std::to_string(k)));
    i.push_back(system.variable("i" + std::to_string(k)));
  }
  for (const bool charging : {true, false}) {
    Mode& mode = system.mode(charging ? "charging" : "draining");
    mode.equations = {der(x) == v, der(v) == -x};
    Expr left = charging ? Expr(2.0 + x) : Expr(-1.0);
    for (int k = 0; k < cells; ++k) {
      const Expr next = k + 1 < cells ? i[k + 1] : Expr(0.1 * u[k]);
      mode.equations.push_back(i[k] + 0.1 * i[k] * i[k] * i[k] == left - u[k]);
      mode.equations.push_back(der(u[k]) == i[k] - next);
      left = u[k];
    }
    const Expr level = charging ? 0.5 - u[0] : u[0] + 0.2;
    mode.guards = {{.name = "level", .value = level, .to = charging ? "draining" : "charging"},
                   {.name = "far", .value = 10.0 + x, .to = "charging"},
                   {.name = "near", .value = 1.001 - x, .to = "charging"},
                   {.name = "slope", .value = 1.002 + der(v), .to = "charging"},
                   {.name = "current", .value = 100.0 - i[0] * i[0], .to = "charging"}};
  }
  return system;
}

Findings run(int cells, double interval, double stop_time) {
  const HybridSystem system = chain(cells);
  CountingSink sink;
  SimulateOptions options;
  options.stop_time = stop_time;
  options.interval = interval;
  options.tolerance = 1e-6;
  options.sink = &sink;
  const SimulateResult result = simulate(system, options);
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  return examine(sink.stored(), 20);
}

void expect_no_allocation(const Findings& f) {
  EXPECT_GE(f.visits, 4U) << "each mode should be entered again";
  EXPECT_GE(f.pairs, 100U);
  EXPECT_EQ(f.allocating, 0U) << "of " << f.pairs << ", first at t = " << f.first;
}

TEST(WarmMode, DoesNotAllocateBetweenEvents) { expect_no_allocation(run(3, 0.0, 40.0)); }

TEST(WarmMode, DoesNotAllocateForInterpolatedPoints) { expect_no_allocation(run(3, 0.02, 40.0)); }

// Large enough for KLU.
TEST(WarmMode, DoesNotAllocateWhenLarge) { expect_no_allocation(run(150, 0.0, 40.0)); }

TEST(WarmMode, DoesNotAllocateForInterpolatedPointsWhenLarge) {
  expect_no_allocation(run(150, 0.05, 40.0));
}

}  // namespace
}  // namespace saltus
