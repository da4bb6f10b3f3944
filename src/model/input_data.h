#pragma once

#include <string>
#include <vector>

#include "expr/expr.h"
#include "model/flat_model.h"

// Measured values over time in the place of a variable that a model leaves free.

namespace saltus {

enum class Joining {
  kHold,    // a value holds until the next one
  kLinear,  // straight lines
  kSpline,  // cubics, twice continuously differentiable, whose first two and last two pieces are
            // one
};

struct InputData {
  std::string source;         // for messages: "drive.csv, column 'torque'"
  std::vector<double> times;  // s, do not decrease; two equal ones are a jump
  std::vector<double> values;
  Joining joining = Joining::kLinear;
};

// Throws Error that names the source: less than two points (one is enough to hold), times that
// decrease or come three times, numbers that are not finite.
void check(const InputData& data);

// The values as an expression of time. Jumps become events, and so does every new value that is
// held; the model ends where the data do. `name` is that of the variable. Throws as check().
Expr add_input_data(FlatModel& model, const std::string& name, const InputData& data);

// Throws Error if a run would begin before or end after the data of an input.
void require_data(const HybridSystem& system, double start_time, double stop_time);

// Slopes at the points of the spline. Pre: x increases, at least two points.
std::vector<double> spline_slopes(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace saltus
