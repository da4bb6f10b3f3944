#include "nag/ida_gearbox.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <numbers>
#include <stdexcept>

// Unknowns: phi_1 ... phi_30, omega_1 ... omega_30, multipliers of the sets, of locked elements.
// The equations are linear but for the friction of slipping elements, so the Jacobian is a constant
// matrix plus at most four entries an element.

namespace saltus {
namespace {

constexpr double D = 1e5, C = 150.0, kTheta = 0.5;
constexpr double kMultiplier = 1000.0;  // a multiplier is this times its unknown
constexpr int kPhi = 0, kOmega = 30, kLambda = 60, kElements = 5;

constexpr int kShafts[20][2] = {{1, 27},  {2, 26},  {3, 25},  {5, 29},  {7, 28},
                                {9, 30},  {10, 28}, {11, 26}, {13, 27}, {14, 26},
                                {15, 25}, {16, 28}, {17, 29}, {18, 30}, {19, 27},
                                {20, 29}, {21, 28}, {22, 27}, {23, 29}, {24, 30}};
constexpr double kInertia[31] = {0,      0.003, 0.010, 0.200, 0.0002, 0.002, 17.0,  0.010,
                                 0.0002, 0.002, 0.008, 0.010, 0.0002, 0.005, 0.005, 0.005,
                                 0.005,  0.005, 0.005, 0.004, 0.004,  0.004};
struct Set {
  int sun;
  double ring, ratio;
};
constexpr Set kSets[3] = {{1, 0.080, 2.19 / 1.40}, {5, 0.085, 1.0 / 0.41}, {9, 0.085, 1.41 / 0.78}};
struct Element {
  int a, b;
  double capacity;
};
constexpr Element kElement[kElements] = {
    {13, 14, 650.0}, {15, 16, 700.0}, {17, 18, 1000.0}, {19, 0, 300.0}, {20, 0, 2000.0}};

double ramp(double x) {
  x = std::clamp(x, 0.0, 1.0);
  return x * x * x * (10.0 + x * (6.0 * x - 15.0));
}

double capacity(int e, double t) {
  double p = 1.0;
  if (e == 0) p = ramp((t - 2.0) / 0.2);
  if (e == 1) p = ramp((t - 4.0) / 0.2) - ramp((t - 6.0) / 0.1);
  if (e == 2) p = 1.0 - ramp((t - 4.0) / 0.1) + ramp((t - 6.0) / 0.2);
  if (e == 3) p = 1.0 - ramp((t - 2.0) / 0.1);
  return kElement[e].capacity * p;
}

double friction(double x) {
  return 2.0 * x / (1.0 + x * x) + 2.0 / std::numbers::pi * std::atan(x);
}
double friction_slope(double x) {
  const double q = 1.0 + x * x;
  return 2.0 * (1.0 - x * x) / (q * q) + 2.0 / std::numbers::pi / q;
}

void require(bool condition, const char* call) {
  if (!condition) throw std::runtime_error(std::string(call) + " failed");
}

class IdaMode {
 public:
  IdaMode(unsigned locked, double tolerance, bool suppress_algebraic, SUNContext context)
      : locked_(locked) {
    n_ = kLambda + 6;
    place_.fill(-1);
    for (int e = 0; e < kElements; ++e)
      if (is_locked(e)) place_[e] = n_++;
    write_matrices();
    y = N_VNew_Serial(n_, context);
    dy = N_VNew_Serial(n_, context);
    N_Vector id = N_VNew_Serial(n_, context);
    N_Vector absolute = N_VNew_Serial(n_, context);
    double* kind = N_VGetArrayPointer(id);
    double* floor = N_VGetArrayPointer(absolute);
    for (int j = 0; j < n_; ++j) {
      kind[j] = j < kOmega + 21 ? 1.0 : 0.0;
      floor[j] = tolerance * (j < kOmega ? 1.0 : j < kLambda ? 10.0 : j < kLambda + 6 ? 1.0 : 0.1);
    }
    N_VConst(0.0, y);
    N_VConst(0.0, dy);
    memory_ = IDACreate(context);
    require(IDAInit(memory_, &IdaMode::residual, 0.0, y, dy) == 0, "IDAInit");
    IDASetErrHandlerFn(
        memory_, [](int, const char*, const char*, char*, void*) {}, nullptr);
    IDASVtolerances(memory_, tolerance, absolute);
    IDASetUserData(memory_, this);
    matrix_ = SUNSparseMatrix(n_, n_, static_cast<sunindextype>(row_.size()), CSC_MAT, context);
    solver_ = SUNLinSol_KLU(y, matrix_, context);
    require(IDASetLinearSolver(memory_, solver_, matrix_) == 0, "IDASetLinearSolver");
    IDASetJacFn(memory_, &IdaMode::jacobian);
    IDASetId(memory_, id);
    IDASetSuppressAlg(memory_, suppress_algebraic);
    IDASetMaxNumSteps(memory_, 1'000'000);
    IDARootInit(memory_, kElements, &IdaMode::roots);
    N_VDestroy(id);
    N_VDestroy(absolute);
  }
  ~IdaMode() {
    IDAFree(&memory_);
    SUNLinSolFree(solver_);
    SUNMatDestroy(matrix_);
    N_VDestroy(y);
    N_VDestroy(dy);
  }
  IdaMode(const IdaMode&) = delete;
  IdaMode& operator=(const IdaMode&) = delete;

  bool is_locked(int e) const { return (locked_ >> e & 1U) != 0; }

  // Starts from the angles and speeds of another mode, or from rest.
  void enter(double t, const IdaMode* from) {
    double* values = N_VGetArrayPointer(y);
    if (from != nullptr) std::copy_n(N_VGetArrayPointer(from->y), kLambda + 6, values);
    for (int e = 0; e < kElements; ++e) {
      if (!is_locked(e)) continue;
      const auto [a, b, c] = kElement[e];
      const bool is_new = from == nullptr || !from->is_locked(e);
      delta_[e] = is_new ? values[a - 1] - (b != 0 ? values[b - 1] : 0.0) : from->delta_[e];
    }
    // Slopes of the mode before are the best guess for those that follow.
    if (from != nullptr) std::copy_n(N_VGetArrayPointer(from->dy), kLambda, N_VGetArrayPointer(dy));
    require(IDAReInit(memory_, t, y, dy) == 0, "IDAReInit");
    require(IDACalcIC(memory_, IDA_YA_YDP_INIT, t + 1e-4) == 0, "IDACalcIC");
    require(IDAGetConsistentIC(memory_, y, dy) == 0, "IDAGetConsistentIC");
    IDASetStopTime(memory_, 7.0);
  }

  // To the next root; -1 at the end.
  int solve(double& t) {
    const int status = IDASolve(memory_, 7.0, &t, y, dy, IDA_NORMAL);
    require(status >= 0, "IDASolve");
    if (status != IDA_ROOT_RETURN) return -1;
    int fired[kElements];
    IDAGetRootInfo(memory_, fired);
    return static_cast<int>(std::find_if(fired, fired + kElements, [](int f) { return f != 0; }) -
                            fired);
  }

  // What a lock would carry.
  double need(int e) const {
    const auto [a, b, c] = kElement[e];
    return b != 0 ? 0.5 * (shaft(a) - shaft(b)) : shaft(a);
  }

  long steps() const {
    long count = 0;
    IDAGetNumSteps(memory_, &count);
    return count;
  }

  N_Vector y = nullptr;
  N_Vector dy = nullptr;

 private:
  struct Entry {
    int row, column;
    double by_y, by_dy;
  };

  double shaft(int body) const {
    const double* v = N_VGetArrayPointer(y);
    for (const auto& [b, node] : kShafts)
      if (b == body)
        return -D * (v[b - 1] - v[node - 1]) - C * (v[kOmega + b - 1] - v[kOmega + node - 1]);
    return 0.0;
  }

  void write_matrices() {
    std::map<std::pair<int, int>, std::pair<double, double>> entries;  // (column, row)
    const auto add = [&](int row, int column, double by_y, double by_dy) {
      auto& [a, b] = entries[{column, row}];
      a += by_y;
      b += by_dy;
    };
    for (int i = 0; i < 30; ++i) {
      add(i, kPhi + i, 0.0, 1.0);
      add(i, kOmega + i, -1.0, 0.0);
      if (i < 21) add(kOmega + i, kOmega + i, 0.0, kInertia[i + 1]);
    }
    for (const auto& [body, node] : kShafts) {
      for (const auto& [row, column, sign] :
           {std::tuple(body, body, 1.0), std::tuple(body, node, -1.0), std::tuple(node, node, 1.0),
            std::tuple(node, body, -1.0)}) {
        add(kOmega + row - 1, kPhi + column - 1, sign * D, 0.0);
        add(kOmega + row - 1, kOmega + column - 1, sign * C, 0.0);
      }
    }
    const auto constrain = [&](int lambda, int body, double factor) {
      add(kOmega + body - 1, lambda, factor * kMultiplier, 0.0);
      add(lambda, kOmega + body - 1, 0.0, factor);
    };
    int lambda = kLambda;
    for (const Set& set : kSets) {
      const double sun = set.ring / set.ratio;
      constrain(lambda, set.sun, -sun);
      constrain(lambda, set.sun + 1, set.ring + sun);
      constrain(lambda, set.sun + 2, -set.ring);
      constrain(lambda + 1, set.sun, sun);
      constrain(lambda + 1, set.sun + 2, -set.ring);
      constrain(lambda + 1, set.sun + 3, set.ring - sun);
      lambda += 2;
    }
    for (int e = 0; e < kElements; ++e) {
      const auto [a, b, c] = kElement[e];
      if (is_locked(e)) {
        constrain(place_[e], a, 1.0);
        if (b != 0) constrain(place_[e], b, -1.0);
        continue;
      }
      for (const int row : {a, b})
        for (const int column : {a, b})
          if (row != 0 && column != 0) add(kOmega + row - 1, kOmega + column - 1, 0.0, 0.0);
    }
    start_.assign(n_ + 1, 0);
    for (const auto& [where, value] : entries) {
      for (int e = 0; e < kElements; ++e) {
        if (is_locked(e)) continue;
        const auto [a, b, c] = kElement[e];
        const int row = where.second - kOmega + 1, column = where.first - kOmega + 1;
        const bool mine =
            (row == a || (b != 0 && row == b)) && (column == a || (b != 0 && column == b));
        if (mine)
          friction_.push_back({static_cast<int>(row_.size()), e, row == column ? 1.0 : -1.0});
      }
      row_.push_back(where.second);
      by_y_.push_back(value.first);
      by_dy_.push_back(value.second);
      ++start_[where.first + 1];
    }
    for (int j = 0; j < n_; ++j) start_[j + 1] += start_[j];
  }

  static int residual(double t, N_Vector y_vector, N_Vector dy_vector, N_Vector out, void* self) {
    const auto& mode = *static_cast<const IdaMode*>(self);
    const double* v = N_VGetArrayPointer(y_vector);
    const double* d = N_VGetArrayPointer(dy_vector);
    const double* phi = v + kPhi - 1;
    const double* omega = v + kOmega - 1;
    double* r = N_VGetArrayPointer(out);
    double* torque = r + kOmega - 1;  // inertia minus torques, by body
    for (int i = 1; i <= 30; ++i) r[i - 1] = d[i - 1] - omega[i];
    for (int i = 1; i <= 21; ++i) torque[i] = kInertia[i] * d[kOmega + i - 1];
    for (int i = 22; i <= 30; ++i) torque[i] = 0.0;
    for (const auto& [body, node] : kShafts) {
      const double m = D * (phi[body] - phi[node]) + C * (omega[body] - omega[node]);
      torque[body] += m;
      torque[node] -= m;
    }
    torque[25] -= 180.0 * ramp(t / 0.5);
    torque[6] += 60.0 * ramp(t / 3.0);
    const double* slope = d + kOmega - 1;
    int lambda = kLambda;
    for (const Set& set : kSets) {
      const double sun = set.ring / set.ratio;
      const int s = set.sun;
      const double l1 = kMultiplier * v[lambda], l2 = kMultiplier * v[lambda + 1];
      torque[s] += sun * (l2 - l1);
      torque[s + 1] += (set.ring + sun) * l1;
      torque[s + 2] -= set.ring * (l1 + l2);
      torque[s + 3] += (set.ring - sun) * l2;
      r[lambda] = (set.ring + sun) * slope[s + 1] - sun * slope[s] - set.ring * slope[s + 2];
      r[lambda + 1] = (set.ring - sun) * slope[s + 3] + sun * slope[s] - set.ring * slope[s + 2];
      lambda += 2;
    }
    for (int e = 0; e < kElements; ++e) {
      const auto [a, b, c] = kElement[e];
      double through = 0.0;
      if (mode.is_locked(e)) {
        through = kMultiplier * v[mode.place_[e]];
        r[mode.place_[e]] = slope[a] - (b != 0 ? slope[b] : 0.0);
      } else {
        const double slip = omega[a] - (b != 0 ? omega[b] : 0.0);
        through = capacity(e, t) * friction(kTheta * slip);
      }
      torque[a] += through;
      if (b != 0) torque[b] -= through;
    }
    return 0;
  }

  static int jacobian(double t, double factor, N_Vector y_vector, N_Vector, N_Vector,
                      SUNMatrix matrix, void* self, N_Vector, N_Vector, N_Vector) {
    const auto& mode = *static_cast<const IdaMode*>(self);
    const double* omega = N_VGetArrayPointer(y_vector) + kOmega - 1;
    std::copy(mode.start_.begin(), mode.start_.end(), SUNSparseMatrix_IndexPointers(matrix));
    std::copy(mode.row_.begin(), mode.row_.end(), SUNSparseMatrix_IndexValues(matrix));
    double* values = SUNSparseMatrix_Data(matrix);
    for (std::size_t k = 0; k < mode.row_.size(); ++k)
      values[k] = mode.by_y_[k] + factor * mode.by_dy_[k];
    double slope[kElements] = {};
    for (int e = 0; e < kElements; ++e) {
      if (mode.is_locked(e)) continue;
      const auto [a, b, c] = kElement[e];
      const double slip = omega[a] - (b != 0 ? omega[b] : 0.0);
      slope[e] = capacity(e, t) * kTheta * friction_slope(kTheta * slip);
    }
    for (const auto& [place, e, sign] : mode.friction_) values[place] += sign * slope[e];
    return 0;
  }

  static int roots(double t, N_Vector y_vector, N_Vector, double* g, void* self) {
    const auto& mode = *static_cast<const IdaMode*>(self);
    const double* v = N_VGetArrayPointer(y_vector);
    const double* omega = v + kOmega - 1;
    for (int e = 0; e < kElements; ++e) {
      const auto [a, b, c] = kElement[e];
      g[e] = mode.is_locked(e) ? capacity(e, t) - std::abs(kMultiplier * v[mode.place_[e]])
                               : omega[a] - (b != 0 ? omega[b] : 0.0);
    }
    return 0;
  }

  struct Friction {
    int place, element;
    double sign;
  };

  unsigned locked_;
  int n_ = 0;
  std::array<int, kElements> place_{};
  std::array<double, kElements> delta_{};
  std::vector<int> row_;
  std::vector<sunindextype> start_;
  std::vector<double> by_y_, by_dy_;
  std::vector<Friction> friction_;
  void* memory_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver solver_ = nullptr;
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

GearboxRun run_ida_gearbox(double tolerance, bool suppress_algebraic) {
  GearboxRun run;
  SUNContext context = nullptr;
  SUNContext_Create(nullptr, &context);
  {
    std::map<unsigned, std::unique_ptr<IdaMode>> modes;
    double setup = 0.0;
    const double begun = processor_seconds();
    unsigned locked = 0b11100;  // k3, b1, b2
    const IdaMode* from = nullptr;
    double t = 0.0;
    try {
      for (;;) {
        const double before = processor_seconds();
        auto& mode = modes[locked];
        if (mode == nullptr)
          mode = std::make_unique<IdaMode>(locked, tolerance, suppress_algebraic, context);
        setup += processor_seconds() - before;
        mode->enter(t, from);
        int fired = mode->solve(t);
        while (fired >= 0 && !mode->is_locked(fired) &&
               std::abs(mode->need(fired)) >= capacity(fired, t))
          fired = mode->solve(t);
        run.steps += mode->steps();
        if (fired < 0) break;
        run.switches.push_back(t);
        locked ^= 1U << fired;
        from = mode.get();
      }
      run.finished = true;
    } catch (const std::runtime_error& error) {
      run.message = error.what();
    }
    run.seconds = processor_seconds() - begun - setup;
  }
  SUNContext_Free(&context);
  return run;
}

}  // namespace saltus
