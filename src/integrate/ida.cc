#include "integrate/ida.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/consistent.h"

namespace saltus {
namespace {

constexpr int kMaxErrorTestFailures = 60;
constexpr double kSmallestSlack = 1e-6;  // the first step is not known yet
// Errors of steps add up: switch times of the gearbox at tolerance 1e-6 are right to 1e-6 s only if
// each step is held to a tenth of it. Below the second number rounding forbids that.
constexpr double kControlFactor = 0.1;
constexpr double kSmallestControl = 1e-10;
constexpr double kManyRoundings = 30.0;    // what Newton need not resolve
constexpr std::size_t kLargestDense = 20;  // as LinearSolver

template <class T, auto Free>
struct Deleter {
  void operator()(T* p) const { Free(p); }
};
template <class Handle, auto Free>
using Owned =
    std::unique_ptr<std::remove_pointer_t<Handle>, Deleter<std::remove_pointer_t<Handle>, Free>>;

void free_linear_solver(SUNLinearSolver s) { SUNLinSolFree(s); }
void free_ida(void* memory) { IDAFree(&memory); }
void free_context(SUNContext context) { SUNContext_Free(&context); }
void no_message(int, const char*, const char*, char*, void*) {}

class Ida : public Integrator {
 public:
  Ida(const Dae& dae, DaeData& data, IntegratorOptions options)
      : dae_(dae),
        data_(data),
        options_(std::move(options)),
        n_(dae.unknown_count()),
        consistent_(dae),
        jacobian_(2 * static_cast<std::size_t>(dae.pattern().nonzeros())),
        residual_(n_),
        rounding_(n_),
        x_(n_),
        dx_(n_) {
    for (std::size_t j = 0; j < n_; ++j)
      has_constraints_ = has_constraints_ || !dae.is_differential(j);
    controlled_ = dae.definition().controlled;
    if (std::find(controlled_.begin(), controlled_.end(), true) == controlled_.end())
      controlled_.assign(n_, true);
    const auto count = static_cast<double>(std::ranges::count(controlled_, true));
    share_ = std::sqrt(static_cast<double>(n_) / count);
    SUNContext context = nullptr;
    SUNContext_Create(nullptr, &context);
    context_.reset(context);
    const auto size = static_cast<sunindextype>(n_);
    for (auto* v : {&state_, &slope_, &weights_, &errors_, &work_})
      v->reset(N_VNew_Serial(size, context));
    const double asked = options_.tolerance;
    options_.tolerance = std::min(asked, kControlFactor * asked + kSmallestControl);
    for (std::size_t j = 0; j < n_; ++j)
      N_VGetArrayPointer(weights_.get())[j] =
          options_.absolute_tolerance[j] * options_.tolerance / asked;
    if (n_ <= kLargestDense) {
      matrix_.reset(SUNDenseMatrix(size, size, context));
      solver_.reset(SUNLinSol_Dense(state_.get(), matrix_.get(), context));
    } else {
      matrix_.reset(SUNSparseMatrix(size, size, dae.pattern().nonzeros(), CSC_MAT, context));
      solver_.reset(SUNLinSol_KLU(state_.get(), matrix_.get(), context));
    }
  }

  void restart(double t, std::span<const double> x, std::span<const double> dx,
               double step) override {
    std::copy(x.begin(), x.end(), N_VGetArrayPointer(state_.get()));
    std::copy(dx.begin(), dx.end(), N_VGetArrayPointer(slope_.get()));
    std::copy(x.begin(), x.end(), x_.begin());
    std::copy(dx.begin(), dx.end(), dx_.begin());
    t0_ = t1_ = t;
    measure_rounding();
    if (memory_ == nullptr) {
      memory_.reset(IDACreate(context_.get()));
      IDAInit(memory_.get(), &Ida::evaluate, t, state_.get(), slope_.get());
      IDASetErrHandlerFn(memory_.get(), no_message, nullptr);
      IDASetUserData(memory_.get(), this);
      IDAWFtolerances(memory_.get(), &Ida::weigh);
      IDASetLinearSolver(memory_.get(), solver_.get(), matrix_.get());
      IDASetJacFn(memory_.get(), &Ida::evaluate_jacobian);
      IDASetMaxNumSteps(memory_.get(), -1);
      // The slopes of algebraic unknowns are not known at a restart, so the first step may have to
      // shrink a long way.
      IDASetMaxErrTestFails(memory_.get(), kMaxErrorTestFailures);
      if (std::isfinite(options_.max_step)) IDASetMaxStep(memory_.get(), options_.max_step);
    } else {
      retire_counts();
      IDAReInit(memory_.get(), t, state_.get(), slope_.get());
    }
    // BDF restarts at order 1: a step remembered from order 5 would only be rejected.
    IDASetInitStep(memory_.get(), std::min(options_.first_step, step));
    is_at_kink_ = false;
  }

  StepOutcome step(double limit) override {
    bad_equation_ = kNone;
    if (is_at_kink_) begin_anew();
    IDASetStopTime(memory_.get(), limit);
    double reached = t1_;
    const int status =
        IDASolve(memory_.get(), limit, &reached, state_.get(), slope_.get(), IDA_ONE_STEP);
    update_counts();
    if (status < 0) return failure();
    // IDA itself creeps towards a wall without end.
    if (reached < limit &&
        reached - t1_ <= 4.0 * std::numeric_limits<double>::epsilon() * std::abs(reached))
      return failure();
    t0_ = t1_;
    t1_ = std::min(reached, limit);
    read_back();
    // Newton stops within the tolerance, but constraints are to hold better than that. IDA's own
    // history stays as it is.
    if (has_constraints_) consistent_.refine(data_, t1_, x_.data(), dx_.data());
    return {};
  }

  // BDF has no way to take a step again from its history, so the point is interpolated (with the
  // order of the step) and its algebraic part and derivatives are solved for.
  StepOutcome retake(double t) override {
    all_at(t, x_.data(), dx_.data());
    const ConsistentOutcome outcome = consistent_.solve(data_, t, x_.data(), dx_.data());
    if (outcome.status == ConsistentStatus::kNotFinite)
      return {StepStatus::kNotFinite, outcome.index};
    if (!outcome.ok()) return failure();
    t1_ = t;
    return {};
  }

  void pass_kink() override { is_at_kink_ = true; }

  void interpolate(double t, std::span<const std::uint32_t> unknowns, double* x,
                   double* dx) const override {
    all_at(t, nullptr, nullptr);
    const double* value = N_VGetArrayPointer(work_.get());
    for (const std::uint32_t j : unknowns) x[j] = value[j];
    IDAGetDky(memory_.get(), t, 1, work_.get());
    for (const std::uint32_t j : unknowns) dx[j] = value[j];
  }

  int extension_degree() const override { return 5; }
  double previous_time() const override { return t0_; }
  double time() const override { return t1_; }
  std::span<const double> x() const override { return x_; }
  std::span<const double> dx() const override { return dx_; }
  double suggested_step() const override {
    double step = 0.0;
    if (memory_ != nullptr) IDAGetCurrentStep(memory_.get(), &step);
    return step;
  }
  const IntegratorCounts& counts() const override { return counts_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // Slopes and multipliers count by what they do over a step, see Radau::slack_of_uncontrolled.
  static int weigh(N_Vector x, N_Vector weights, void* self_pointer) {
    const auto& self = *static_cast<const Ida*>(self_pointer);
    double step = 0.0;
    IDAGetCurrentStep(self.memory_.get(), &step);
    const double slack = std::clamp(std::abs(step), kSmallestSlack, 1.0);
    const double* value = N_VGetArrayPointer(x);
    const double* absolute = N_VGetArrayPointer(self.weights_.get());
    double* weight = N_VGetArrayPointer(weights);
    for (std::size_t j = 0; j < self.n_; ++j) {
      const double allowed = self.options_.tolerance * std::abs(value[j]) + absolute[j];
      weight[j] = self.controlled_[j]
                      ? self.share_ / allowed
                      : slack / (allowed + kManyRoundings * slack * self.rounding_[j]);
    }
    return 0;
  }

  // How far the last digit of what is integrated moves slopes and multipliers: behind stiff springs
  // further than the tolerance allows, and Newton must not try to find them better.
  void measure_rounding() {
    std::fill(rounding_.begin(), rounding_.end(), 0.0);
    if (!has_constraints_) return;
    // So many that the equations notice: they count as met within a few.
    constexpr double kDigits = 1e3;
    std::vector<double> x = x_;
    std::vector<double> dx = dx_;
    double sign = kDigits * std::numeric_limits<double>::epsilon();
    for (std::size_t j = 0; j < n_; ++j)
      if (dae_.is_differential(j)) x[j] *= 1.0 + (sign = -sign);
    if (!consistent_.refine(data_, t1_, x.data(), dx.data()).ok()) return;
    for (std::size_t j = 0; j < n_; ++j) rounding_[j] = std::abs(x[j] - x_[j]) / kDigits;
  }

  static int evaluate(double t, N_Vector x, N_Vector dx, N_Vector out, void* self_pointer) {
    auto& self = *static_cast<Ida*>(self_pointer);
    double* residual = N_VGetArrayPointer(out);
    self.dae_.residual(self.data_, t, N_VGetArrayPointer(x), N_VGetArrayPointer(dx), residual);
    for (std::size_t i = 0; i < self.n_; ++i) {
      if (!std::isfinite(residual[i])) {
        self.bad_equation_ = i;
        return 1;  // recoverable: IDA tries a smaller step
      }
    }
    return 0;
  }

  static int evaluate_jacobian(double t, double factor, N_Vector x, N_Vector dx, N_Vector,
                               SUNMatrix matrix, void* self_pointer, N_Vector, N_Vector, N_Vector) {
    auto& self = *static_cast<Ida*>(self_pointer);
    self.dae_.jacobian(self.data_, t, N_VGetArrayPointer(x), N_VGetArrayPointer(dx),
                       self.jacobian_.data());
    const Pattern& pattern = self.dae_.pattern();
    const int nonzeros = pattern.nonzeros();
    const bool dense = SUNMatGetID(matrix) == SUNMATRIX_DENSE;
    if (dense) {
      SUNMatZero(matrix);
    } else {
      std::copy(pattern.start.begin(), pattern.start.end(), SUNSparseMatrix_IndexPointers(matrix));
      std::copy(pattern.row.begin(), pattern.row.end(), SUNSparseMatrix_IndexValues(matrix));
    }
    for (int j = 0; j < pattern.columns; ++j) {
      for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
        const double value = self.jacobian_[k] + factor * self.jacobian_[nonzeros + k];
        if (dense) {
          SM_ELEMENT_D(matrix, pattern.row[k], j) = value;
        } else {
          SUNSparseMatrix_Data(matrix)[k] = value;
        }
      }
    }
    return 0;
  }

  // At order 1, from a point and slopes that are right just after the kink.
  void begin_anew() {
    constexpr double kRoundings = 256.0;
    const double t = t1_ + kRoundings * std::numeric_limits<double>::epsilon() * std::abs(t1_);
    std::vector<double> x = x_;
    std::vector<double> dx = dx_;
    if (!consistent_.solve(data_, t, x.data(), dx.data()).ok()) x = x_, dx = dx_;
    restart(t1_, x, dx, 0.0);
  }

  void all_at(double t, double* x, double* dx) const {
    if (dx != nullptr) {
      IDAGetDky(memory_.get(), t, 1, work_.get());
      std::copy_n(N_VGetArrayPointer(work_.get()), n_, dx);
    }
    IDAGetDky(memory_.get(), t, 0, work_.get());
    if (x != nullptr) std::copy_n(N_VGetArrayPointer(work_.get()), n_, x);
  }

  void read_back() {
    std::copy_n(N_VGetArrayPointer(state_.get()), n_, x_.begin());
    std::copy_n(N_VGetArrayPointer(slope_.get()), n_, dx_.begin());
  }

  StepOutcome failure() const {
    if (bad_equation_ != kNone) return {StepStatus::kNotFinite, bad_equation_};
    IDAGetEstLocalErrors(memory_.get(), errors_.get());
    const double* error = N_VGetArrayPointer(errors_.get());
    std::size_t worst = 0;
    for (std::size_t i = 0; i < n_; ++i)
      if (std::abs(error[i]) > std::abs(error[worst])) worst = i;
    return {StepStatus::kStepTooSmall, worst};
  }

  IntegratorCounts since_restart() const {
    long steps = 0, residuals = 0, setups = 0, failures = 0, newton = 0, newton_failures = 0;
    long jacobians = 0;
    IDAGetNumSteps(memory_.get(), &steps);
    IDAGetNumResEvals(memory_.get(), &residuals);
    IDAGetNumLinSolvSetups(memory_.get(), &setups);
    IDAGetNumErrTestFails(memory_.get(), &failures);
    IDAGetNumNonlinSolvIters(memory_.get(), &newton);
    IDAGetNumNonlinSolvConvFails(memory_.get(), &newton_failures);
    IDAGetNumJacEvals(memory_.get(), &jacobians);
    const auto count = [](long value) { return static_cast<std::size_t>(value); };
    return {count(steps),     count(failures + newton_failures),
            count(residuals), count(jacobians),
            count(setups),    count(newton)};
  }

  void update_counts() {
    counts_ = since_restart();
    counts_ += retired_;
  }

  // IDAReInit zeroes IDA's counters.
  void retire_counts() {
    update_counts();
    retired_ = counts_;
  }

  using Vector = Owned<N_Vector, N_VDestroy>;

  const Dae& dae_;
  DaeData& data_;
  IntegratorOptions options_;
  std::size_t n_;
  ConsistentSolver consistent_;
  std::vector<double> jacobian_;
  std::vector<double> residual_;
  std::vector<double> rounding_;  // by unknown
  std::vector<double> x_, dx_;
  std::vector<bool> controlled_;  // by unknown
  // IDA takes means over all unknowns; those that the error control does not look at must not make
  // the others count less.
  double share_ = 1.0;
  bool has_constraints_ = false;
  bool is_at_kink_ = false;
  double t0_ = 0.0;
  double t1_ = 0.0;
  std::size_t bad_equation_ = kNone;
  IntegratorCounts counts_;
  IntegratorCounts retired_;
  Owned<SUNContext, free_context> context_;  // destroyed last
  Vector state_, slope_, weights_, errors_, work_;
  Owned<SUNMatrix, SUNMatDestroy> matrix_;
  Owned<SUNLinearSolver, free_linear_solver> solver_;
  std::unique_ptr<void, Deleter<void, free_ida>> memory_;
};

}  // namespace

std::unique_ptr<Integrator> make_ida(const Dae& dae, DaeData& data, IntegratorOptions options) {
  return std::make_unique<Ida>(dae, data, std::move(options));
}

}  // namespace saltus
