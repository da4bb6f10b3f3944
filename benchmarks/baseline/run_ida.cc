#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>

#include "baseline/baseline.h"

namespace saltus {
namespace {

int residual(double t, N_Vector y, N_Vector dy, N_Vector r, void* problem) {
  static_cast<const BaselineProblem*>(problem)->residual(
      t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy), N_VGetArrayPointer(r));
  return 0;
}

int jacobian(double t, double c, N_Vector y, N_Vector dy, N_Vector, SUNMatrix matrix, void* problem,
             N_Vector, N_Vector, N_Vector) {
  // IDA has set the matrix to zero.
  static_cast<const BaselineProblem*>(problem)->jacobian(
      t, c, N_VGetArrayPointer(y), N_VGetArrayPointer(dy), SUNDenseMatrix_Data(matrix));
  return 0;
}

// A run that fails at loose tolerances is an outcome, not something to print.
void discard_message(int, const char*, const char*, char*, void*) {}

void require(int status, const char* call) {
  if (status < 0) throw std::runtime_error(std::string(call) + " failed");
}

struct Context {
  Context() { require(SUNContext_Create(nullptr, &handle), "SUNContext_Create"); }
  ~Context() { SUNContext_Free(&handle); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  SUNContext handle = nullptr;
};

struct FreeIda {
  void operator()(void* memory) const { IDAFree(&memory); }
};

using VectorHandle = std::unique_ptr<std::remove_pointer_t<N_Vector>, decltype(&N_VDestroy)>;

VectorHandle make_vector(const std::vector<double>& values, SUNContext context) {
  VectorHandle v(N_VNew_Serial(static_cast<sunindextype>(values.size()), context), &N_VDestroy);
  std::copy(values.begin(), values.end(), N_VGetArrayPointer(v.get()));
  return v;
}

}  // namespace

BaselineRun run_ida(const BaselineProblem& problem, double rtol, const std::vector<double>& atol,
                    const IdaOptions& options) {
  if (atol.size() != problem.start.size()) {
    throw std::runtime_error(problem.name + ": one absolute tolerance for each unknown is needed");
  }
  const auto begin = std::chrono::steady_clock::now();
  const Context context;
  const auto n = static_cast<sunindextype>(problem.start.size());
  const VectorHandle y = make_vector(problem.start, context.handle);
  const VectorHandle dy = make_vector(problem.slope, context.handle);
  const VectorHandle id = make_vector(problem.differential, context.handle);
  const VectorHandle tolerance = make_vector(atol, context.handle);
  const std::unique_ptr<std::remove_pointer_t<SUNMatrix>, decltype(&SUNMatDestroy)> matrix(
      SUNDenseMatrix(n, n, context.handle), &SUNMatDestroy);
  const std::unique_ptr<std::remove_pointer_t<SUNLinearSolver>, decltype(&SUNLinSolFree)> solver(
      SUNLinSol_Dense(y.get(), matrix.get(), context.handle), &SUNLinSolFree);
  const std::unique_ptr<void, FreeIda> ida(IDACreate(context.handle));

  require(IDAInit(ida.get(), residual, 0.0, y.get(), dy.get()), "IDAInit");
  require(IDASetErrHandlerFn(ida.get(), discard_message, nullptr), "IDASetErrHandlerFn");
  require(IDASVtolerances(ida.get(), rtol, tolerance.get()), "IDASVtolerances");
  // IDA hands the pointer back unchanged; nothing writes through it.
  require(IDASetUserData(ida.get(), const_cast<BaselineProblem*>(&problem)), "IDASetUserData");
  require(IDASetLinearSolver(ida.get(), solver.get(), matrix.get()), "IDASetLinearSolver");
  require(IDASetJacFn(ida.get(), jacobian), "IDASetJacFn");
  require(IDASetId(ida.get(), id.get()), "IDASetId");
  require(IDASetSuppressAlg(ida.get(), options.suppress_algebraic), "IDASetSuppressAlg");
  require(IDASetNonlinConvCoef(ida.get(), options.newton_coefficient), "IDASetNonlinConvCoef");
  require(IDASetMaxNumSteps(ida.get(), options.max_steps), "IDASetMaxNumSteps");
  require(IDASetStopTime(ida.get(), problem.t_end), "IDASetStopTime");

  BaselineRun run;
  double t = 0.0;
  run.finished = IDASolve(ida.get(), problem.t_end, &t, y.get(), dy.get(), IDA_NORMAL) >= 0;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const double* values = N_VGetArrayPointer(y.get());
  run.end.assign(values, values + n);
  require(IDAGetNumSteps(ida.get(), &run.steps), "IDAGetNumSteps");
  require(IDAGetNumResEvals(ida.get(), &run.residuals), "IDAGetNumResEvals");
  require(IDAGetNumJacEvals(ida.get(), &run.jacobians), "IDAGetNumJacEvals");
  return run;
}

std::vector<BaselineProblem> all_baselines() {
  return {robertson_baseline(), akzo_nobel_baseline(), transistor_amplifier_baseline(),
          transistor_amplifier_semi_explicit_baseline(), diode_ring_baseline()};
}

}  // namespace saltus
