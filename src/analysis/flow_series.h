#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "expr/power_series.h"
#include "linalg/linear_solver.h"
#include "model/dae.h"
#include "model/system_state.h"

namespace saltus {

// Where the series of a symbol comes from.
struct SeriesSource {
  enum class Kind { kTime, kUnknown, kDerivative, kHeld, kFixed };
  Kind kind = Kind::kFixed;
  std::size_t index = 0;
};

// The solution of F(t, x, x') = 0 just after a consistent point, as power series, and expressions
// along it. Pre: the equations determine x' of the differential unknowns and the values of the
// others (index 1, as reduced forms are).
class FlowSeries {
 public:
  // An expression in the symbols of the Dae, ready to be evaluated along solutions.
  class Watched {
   public:
    Watched(const FlowSeries& flow, const Expr& value);

   private:
    friend class FlowSeries;
    SeriesFormulas formulas_;
    std::vector<SeriesSource> sources_;
  };

  explicit FlowSeries(const Dae& dae);

  // Expands up to this power, 0 to ask only whether there is a solution; what was expanded last
  // stays if nothing that it follows from has changed. `at`: values of what is no unknown of the
  // Dae. `largest`: magnitudes that say what rounding of the states can be. False if the equations
  // do not determine the solution uniquely.
  bool expand(DaeData& data, double t, const double* x, const double* dx, const SystemState& at,
              const SystemState& largest, int highest);

  // Expands the same solution further.
  void extend(const DaeData& data, const SystemState& at, int highest);

  // The same without a solution; null if it depends on one. Zero times an unknown does not.
  const PowerSeries* evaluate_apart(Watched& watched, double t, const DaeData& data,
                                    const SystemState& at) const;

  // Along the solution expanded last; slots may have other values than it was expanded with.
  const PowerSeries& evaluate(Watched& watched, const DaeData& data, const SystemState& at) const;

 private:
  std::vector<SeriesSource> sources_of(const std::vector<Expr>& leaves) const;
  void put_leaves(SeriesFormulas& formulas, const std::vector<SeriesSource>& sources,
                  const DaeData& data, const SystemState& at) const;
  void put_constant(PowerSeries& leaf, const Expr& symbol, const SeriesSource& source, double t,
                    const DaeData& data, const SystemState& at) const;
  bool starts_as_before(const DaeData& data, double t, const double* x, const double* dx,
                        const SystemState& largest);
  void solve_for(int power);
  void measure(std::vector<double>& errors);

  Dae dae_;
  std::unordered_map<const Node*, SeriesSource> places_;  // by symbol
  SeriesFormulas residuals_;
  std::vector<SeriesSource> sources_;
  double time_ = 0.0;
  int highest_ = 0;  // coefficients up to this power are known
  bool is_expanded_ = false;
  bool has_pivots_ = false;                 // they are chosen at the first factorization
  std::vector<double> start_, start_held_;  // x, dx and magnitudes; held values
  std::vector<double> next_start_;
  std::vector<PowerSeries> unknowns_;
  LinearSolver<double> solver_;
  std::vector<double> jacobian_, matrix_, right_, sizes_, trial_, errors_;
};

}  // namespace saltus
