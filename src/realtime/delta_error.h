#pragma once

#include <vector>

namespace saltus {

// The oscillator of RE Table 17, and the steps its table prints. Their ratios are not those that it
// prints beside them (0.1, 0.2, 0.5 of one period), so the steps are what counts.
struct DeltaErrorOptions {
  double m = 1.0;   // kg
  double d = 5.0;   // N s/m
  double c = 10.0;  // N/m
  std::vector<double> steps = {0.031, 0.093, 0.154};
};

// RE Appendix A: what the line between the ends of a step costs, in the 2-norm.
struct DeltaErrorRow {
  double step = 0.0;
  double eta = 0.0;     // length over the step
  double single = 0.0;  // RE (146), of one step
  double twice = 0.0;   // RE (155), of a step of eta and one of 2 - eta
  double order = 0.0;   // of `single` in the step, from half of it; NaN where it is exact
  double order_twice = 0.0;
};

// Rows by step, then by eta from 0 to 2. Throws Error for wrong numbers.
std::vector<DeltaErrorRow> delta_errors(const DeltaErrorOptions& options, int divisions = 10);

}  // namespace saltus
