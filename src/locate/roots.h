#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

namespace saltus {

// All roots of a scalar guard g(s), s in [0, 1] the fraction of an integrator step.
//
//   sample g on [l, u] at Chebyshev points, p := interpolant, E := bound on |g - p|
//   E not small against max |g| on [l, u]      -> split [l, u], sample both parts
//   otherwise cut [l, u] by p alone into cells where
//     |p| > E                                  -> no root
//     |p'| beyond its error                    -> at most one root; g itself is refined
//     |p| comparable with E                    -> sample g again there, on its own scale
//   a cell of minimal width, or one lost in rounding noise, is a zero; the signs beside it say
//   which
//
// Every judgement is relative to the local size of g, so a guard that keeps relative accuracy near
// its zeros (product form) is resolved far below the rounding level of its maximum. Nothing here
// allocates.

// Refers to a function object (not a plain function) that outlives it.
class GuardRef {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, GuardRef>) GuardRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, double s) -> double {
          return (*static_cast<std::remove_reference_t<F>*>(object))(s);
        }) {}

  double operator()(double s) const { return call_(object_, s); }

 private:
  void* object_;
  double (*call_)(void*, double);
};

enum class RootKind {
  kFalling,  // + to -
  kRising,   // - to +
  kGrazing,  // touches zero, the same sign on both sides
  kFlat,     // zero on a subinterval of at least kFlatWidth
};

struct Root {
  double s = 0.0;  // kFlat: where the zero stretch starts
  RootKind kind = RootKind::kFalling;
  double width = 0.0;  // of the bracket around s; kFlat: length of the stretch
  // Signs of g beside the root: -1, 1, or 0 where the root reaches an end of [0, 1]. The kind of
  // such a root is that of the inner side: from 0 to - is kFalling, from - to 0 is kRising.
  int before = 0;
  int after = 0;
};

enum class RootStatus {
  kComplete,
  kBudget,     // evaluations used up
  kTooMany,    // more than RootIsolator::kMaxRoots
  kNotFinite,  // g returned NaN or an infinity
};

struct RootReport {
  RootStatus status = RootStatus::kComplete;
  std::span<const Root> roots;  // in increasing s; valid until the next call
  // The list is complete up to here: 1 unless the status is another than kComplete. After kBudget a
  // crossing that the signs at proven_until and 1 imply is reported too.
  double proven_until = 1.0;
  int evaluations = 0;
};

struct GuardInfo {
  double noise = 0.0;  // absolute rounding error of g; 0: relative accuracy, or not known
  int degree = -1;     // g is a polynomial of at most this degree on the step; -1: not known
  // g(0) and g(1) where known already, NaN otherwise.
  double at_start = std::numeric_limits<double>::quiet_NaN();
  double at_end = std::numeric_limits<double>::quiet_NaN();
  // Places inside (0, 1), increasing, between which g is known to do nothing that samples of a part
  // do not show.
  std::span<const double> cuts = {};
};

// Where surely_no_root wants its samples, in increasing order.
std::span<const double, 5> five_sample_points();
std::span<const double, 9> nine_sample_points();

// True if 5 or 9 samples at those points exclude a root on [0, 1]. This is a proof for a polynomial
// whose degree is below the number of samples; for unknown degree (-1) the last two Chebyshev
// coefficients must also be 1000 times smaller than the distance from zero.
bool surely_no_root(std::span<const double> samples, int degree = -1, double noise = 0.0);

// The same for many guards at once, in few operations: rows[k * count + g] is guard g at the k-th
// of the five points, unproven[g] is 0 for polynomials of degree 4 at most and 1 otherwise. Where
// clearance[g] > 0 surely_no_root holds; the converse may fail by a few roundings.
void measure_clearance(const double* rows, std::size_t count, const double* unproven,
                       double* clearance);

class RootIsolator {
 public:
  static constexpr std::size_t kMaxRoots = 64;
  static constexpr double kMinWidth = 1e-9;    // zeros closer than this may be told as one
  static constexpr double kTolerance = 1e-14;  // width of a crossing's bracket
  static constexpr double kFlatWidth = 1e-3;

  // About 100 evaluations more than `budget` are used at worst, for the crossing implied at the
  // end.
  explicit RootIsolator(int budget = 2000) : budget_(budget) {}

  RootReport isolate(GuardRef g, const GuardInfo& info = {});

 private:
  struct Cell;
  struct Model;
  struct Zero {
    double lower = 0.0;
    double upper = 0.0;
    double guess = 0.0;
  };

  double evaluate(double s);
  int sign_of(double value) const;
  void stop(RootStatus status, double s);

  void resolve(Cell cell);
  void cut(Model& model, double xa, double xb, int depth);
  void cut_monotone(Model& model, double xa, double xb);
  void resample_doubtful(Model& model);
  double value_at(const Model& model, double x);
  Zero refine(double lower, double g_lower, double upper, double g_upper, double guess,
              double spread);

  void emit_sign(double s, int sign);
  void emit_zero(Zero zero);
  void close_zero(int after);

  int budget_;
  const GuardRef* g_ = nullptr;
  GuardInfo info_;
  int evaluations_ = 0;
  RootStatus status_ = RootStatus::kComplete;
  double proven_until_ = 1.0;
  // The sweep from left to right: the sign last seen and the zero that waits for the sign after it.
  int last_sign_ = 0;
  bool zero_open_ = false;
  Zero zero_;
  std::array<Root, kMaxRoots> roots_;
  std::size_t count_ = 0;
};

}  // namespace saltus
