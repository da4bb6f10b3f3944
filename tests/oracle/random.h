#pragma once

#include <cmath>
#include <cstdint>

namespace saltus::oracle {

// SplitMix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0x1234567ULL) {
    next();
  }
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }
  double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  bool chance(double probability) { return unit() < probability; }
  int integer(int from, int to) {  // both included
    return from + static_cast<int>(next() % static_cast<std::uint64_t>(to - from + 1));
  }
  // Rounded to a few decimals, so that models can be read.
  double uniform(double from, double to) { return round(from + (to - from) * unit()); }
  double logarithmic(double from, double to) {
    return round(std::exp(std::log(from) + std::log(to / from) * unit()));
  }

 private:
  static double round(double x) {
    const double r = std::round(x * 1e4) / 1e4;
    return r == 0.0 ? 0.0 : r;  // no -0
  }
  std::uint64_t state_;
};

}  // namespace saltus::oracle
