// Claims, fixed steps of 1 ms: FutureHybrid.Extended (9 states, 5 elements) takes at most 0.5 us a
// step in the median, 99.9 % of a million steps without an event at most three times that; OT's
// gearbox at most 5 us; the gearbox NAG at most 15 us.
//
// Baseline: Reiter's scheme (RE (2) to (9), (14)) written by hand with Eigen's matrices of fixed
// size, for the same drivetrain in the same run. Instructions of single steps, those with events
// and all 64 lock patterns of OT's gearbox included, are counted by callgrind if it is installed.
//
// Wall time of every step; exit status 1 if a limit is exceeded.

#include <fmt/format.h>
#include <unistd.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <unsupported/Eigen/MatrixFunctions>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "realtime/realtime_engine.h"

// What is counted; the rehearsal takes steps, too, and they prepare modes.
extern "C" __attribute__((noinline, noclone)) unsigned counted_step(saltus::RealtimeEngine* engine,
                                                                    const double* inputs) {
  return engine->step(inputs);
}

namespace {

using namespace saltus;

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

HybridSystem load(const std::string& name) {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}};
  options.use_modelica_path = false;
  return build(load_modelica(name, options));
}

// ---- Reiter's scheme --------------------------------------------------------------------------
// x: speeds of engine, motor, third ring, final drive, intermediate inertia, wheel, vehicle;
// torsion of both shafts. Elements: C0 to C3 and the tyre.
class Reiter {
 public:
  static constexpr int n = 9, m = 5, regions = 3;
  using State = Eigen::Matrix<double, n, 1>;
  using Torques = Eigen::Matrix<double, m, 1>;
  using Inputs = Eigen::Matrix<double, 3, 1>;  // of the engines, and 1

  explicit Reiter(double step) : step_(step) {
    constexpr double i_f = 3.5, c = 4000, d = 60, d_z = 5, k_1 = 800, k_2 = 20000;
    Eigen::Matrix<double, 7, 1> inertia;
    inertia << 0.2, 0.1, 0.05, 0.15, 3.4093, 1.5, 135;
    slips_.setZero();
    slips_.row(0) << 1, -1, 0, 0, 0, 0, 0, 0, 0;
    slips_.row(1) << 0, 3, 4, -6, 0, 0, 0, 0, 0;
    slips_.row(2) << 0, -1.5, -5, 7.5, 0, 0, 0, 0, 0;
    slips_.row(3) << 0, 0, 1, 0, 0, 0, 0, 0, 0;
    slips_.row(4) << 0, 0, 0, 0, 0, 1, -1, 0, 0;
    for (int j = 0; j < regions; ++j) {
      Eigen::Matrix<double, n, n> a = Eigen::Matrix<double, n, n>::Zero();
      Eigen::Matrix<double, n, 3> b = Eigen::Matrix<double, n, 3>::Zero();
      const double k = j == 1 ? k_1 : k_2;
      const double offset = j == 1 ? 0.0 : (j == 2 ? -1.0 : 1.0) * (k_2 - k_1) * kBorder;
      const auto add = [&](int row, double factor, bool is_second) {  // a torque of a shaft
        if (is_second) {
          a(row, 4) += factor * d_z;
          a(row, 5) -= factor * d_z;
          a(row, 8) += factor * k;
          b(row, 2) += factor * offset;
        } else {
          a(row, 3) += factor * d / i_f;
          a(row, 4) -= factor * d;
          a(row, 7) += factor * c;
        }
      };
      b(0, 0) = 1 / inertia[0];
      b(1, 1) = 1 / inertia[1];
      add(3, -1 / (i_f * inertia[3]), false);
      add(4, 1 / inertia[4], false);
      add(4, -1 / inertia[4], true);
      add(5, 1 / inertia[5], true);
      b(6, 2) = -20 / inertia[6];
      a(7, 3) = 1 / i_f;
      a(7, 4) = -1;
      a(8, 4) = 1;
      a(8, 5) = -1;
      Eigen::Matrix<double, n, m> b_c = Eigen::Matrix<double, n, m>::Zero();
      for (int i = 0; i < 7; ++i) b_c.row(i) = -slips_.col(i).transpose() / inertia[i];
      Eigen::MatrixXd all = Eigen::MatrixXd::Zero(n + 3 + m, n + 3 + m);
      all.topLeftCorner(n, n) = a * step;
      all.block(0, n, n, 3) = b * step;
      all.block(0, n + 3, n, m) = b_c * step;
      const Eigen::MatrixXd e = all.exp();
      phi_[j] = e.topLeftCorner(n, n);
      h_v_[j] = e.block(0, n, n, 3);
      h_c_[j] = e.block(0, n + 3, n, m);
      for (unsigned pattern = 0; pattern < 32; ++pattern) {
        Eigen::Matrix<double, m, m> locked = Eigen::Matrix<double, m, m>::Zero();
        for (int k_el = 0; k_el < m; ++k_el) locked(k_el, k_el) = pattern >> k_el & 1U;
        const Eigen::Matrix<double, m, m> open = Eigen::Matrix<double, m, m>::Identity() - locked;
        // Four elements are more than enough for the four speeds of the gear: least norm.
        xi_[j][pattern] = (locked * slips_ * h_c_[j] * locked + open)
                              .completeOrthogonalDecomposition()
                              .pseudoInverse() *
                          locked * slips_;
      }
    }
    x_.setZero();
    x_[0] = 80;
    direction_.setZero();
  }

  void step() {
    const double t = step_ * static_cast<double>(sample_++);
    const Torques capacity = capacities(t);
    const Inputs v = inputs(t);
    double left = 1.0;  // of the sample
    for (int events = 0; events < 4 && left > 1e-9; ++events) {
      const int j = x_[8] > kBorder ? 2 : x_[8] < -kBorder ? 0 : 1;
      const Torques slip = slips_ * x_;
      State y, next = x_;
      Torques tau;
      for (int round = 0; round < m + 1; ++round) {
        Torques sliding = Torques::Zero();
        for (int k = 0; k < m; ++k) {
          if (capacity[k] <= 0) locked_ &= ~(1U << k);
          if ((locked_ >> k & 1U) != 0) continue;
          if (direction_[k] == 0 || capacity[k] <= 0) direction_[k] = slip[k] < 0 ? -1 : 1;
          sliding[k] = direction_[k] * capacity[k];
        }
        y.noalias() = phi_[j] * x_ + h_v_[j] * v + h_c_[j] * sliding;
        tau.noalias() = -(xi_[j][locked_] * y);
        bool holds = true;
        for (int k = 0; k < m; ++k)
          if ((locked_ >> k & 1U) != 0 && std::abs(tau[k]) > capacity[k]) {
            locked_ &= ~(1U << k);
            direction_[k] = tau[k] > 0 ? 1 : -1;
            holds = false;
          }
        if (!holds) continue;
        next.noalias() = y + h_c_[j] * tau;
        break;
      }
      // RE (14): where a slip passes zero, on the line between the ends.
      const Torques after = slips_ * next;
      double eta = left;
      int first = -1;
      for (int k = 0; k < m; ++k) {
        if ((locked_ >> k & 1U) != 0 || capacity[k] <= 0) continue;
        const double end = slip[k] + left * (after[k] - slip[k]);
        if (direction_[k] * end >= 0 || direction_[k] * slip[k] < 0) continue;
        const double at = slip[k] / (slip[k] - after[k]);
        if (at < eta) {
          eta = at;
          first = k;
        }
      }
      x_ += eta * (next - x_);
      if (first >= 0) {
        locked_ |= 1U << first;
        direction_[first] = 0;
      }
      left -= eta;
    }
  }

  double vehicle() const { return x_[6]; }

 private:
  static constexpr double kBorder = 6e-3;

  static Torques capacities(double u) {
    Torques c;
    c[3] = u < 0.2 ? 0 : u < 0.5 ? (u - 0.2) / 0.3 : 1;
    c[2] = u < 0.5 ? 0 : u < 0.8 ? (u - 0.5) / 0.3 : u < 3 ? 1 : u < 3.2 ? 1 - (u - 3) / 0.2 : 0;
    c[1] = u < 3.1 ? 0 : u < 3.5 ? (u - 3.1) / 0.4 : 1;
    c[0] = u < 5 ? 0 : u < 5.5 ? u - 5 : 0.5;
    c[4] = 1;
    c.array() *= Eigen::Array<double, m, 1>(300, 600, 600, 900, 800);
    return c;
  }
  static Inputs inputs(double u) {
    return {u < 5 ? 0.0 : 60.0, u < 1 ? 20.0 : u < 6 ? 80.0 : 20.0, 1.0};
  }

  double step_;
  std::size_t sample_ = 0;
  Eigen::Matrix<double, m, n> slips_;
  std::array<Eigen::Matrix<double, n, n>, regions> phi_;
  std::array<Eigen::Matrix<double, n, 3>, regions> h_v_;
  std::array<Eigen::Matrix<double, n, m>, regions> h_c_;
  std::array<std::array<Eigen::Matrix<double, m, n>, 32>, regions> xi_;
  State x_;
  unsigned locked_ = 0;
  Eigen::Matrix<double, m, 1> direction_;
};

// ---- Times ------------------------------------------------------------------------------------

struct Times {
  double median = 0.0;  // us
  double p999 = 0.0;
  double most = 0.0;
};

template <typename Step>
Times measure(std::size_t steps, Step&& step) {
  std::vector<double> times(steps);
  for (double& t : times) {
    const double before = now();
    step();
    t = 1e6 * (now() - before);
  }
  std::ranges::sort(times);
  return {times[steps / 2], times[steps - 1 - steps / 1000], times.back()};
}

Times measure_model(const std::string& name, double stop_time, const std::string& output) {
  const HybridSystem system = load(name);
  RealtimeEngine engine(system, {.step = 1e-3, .stop_time = stop_time, .outputs = {output}});
  double row = 0.0;
  return measure(static_cast<std::size_t>(std::lround(stop_time / 1e-3)), [&] {
    engine.step();
    engine.read_outputs(&row);
  });
}

bool judge(const std::string& what, double measured, double limit) {
  const bool holds = measured <= limit;
  fmt::print("{:<58} {:9.3f}  limit {:g}{}\n", what, measured, limit, holds ? "" : "  EXCEEDED");
  return holds;
}

// ---- Instructions -----------------------------------------------------------------------------

// What runs under callgrind: a drive with events, then every lock pattern.
int run_counted() {
  {
    const HybridSystem system = load("Saltus.FutureHybrid.Extended");
    RealtimeEngine engine(system, {.step = 1e-2, .stop_time = 8.0, .outputs = {"w_v"}});
    for (int k = 0; k < 800; ++k) counted_step(&engine, nullptr);
  }
  const HybridSystem system = load("Saltus.FourSpeed.HardwareInTheLoop");
  RealtimeEngine engine(system,
                        {.step = 1e-3, .stop_time = 0.1, .outputs = {"car.v"}, .neighbours = 64});
  for (unsigned pattern = 0; pattern < 64; ++pattern) {
    engine.restart();
    double inputs[7] = {0.3, 1, 0, 0, 0, 0, 0};
    for (int k = 0; k < 3; ++k) counted_step(&engine, inputs);
    for (unsigned k = 0; k < 6; ++k) inputs[1 + k] = pattern >> k & 1U;
    for (int k = 0; k < 30; ++k) counted_step(&engine, inputs);
  }
  return 0;
}

// A file is written before each step: the instructions of the one before it.
void count_instructions(const std::string& program) {
  namespace fs = std::filesystem;
  if (std::system("command -v valgrind > /dev/null 2>&1") != 0) {
    fmt::print("instructions are not counted: valgrind is not installed\n");
    return;
  }
  const fs::path folder = fs::temp_directory_path() / fmt::format("saltus_counts_{}", ::getpid());
  fs::create_directories(folder);
  const std::string command = fmt::format(
      "valgrind --tool=callgrind --toggle-collect=counted_step --dump-before=counted_step "
      "--callgrind-out-file='{}/counts' '{}' --counted > /dev/null 2>&1",
      folder.string(), program);
  std::vector<double> counts;
  if (std::system(command.c_str()) == 0)
    for (const auto& file : fs::directory_iterator(folder)) {
      std::ifstream in(file.path());
      for (std::string line; std::getline(in, line);)
        if (line.starts_with("totals: ")) counts.push_back(std::stod(line.substr(8)));
    }
  fs::remove_all(folder);
  std::erase_if(counts, [](double c) { return c <= 0.0; });
  if (counts.empty()) {
    fmt::print("instructions could not be counted\n");
    return;
  }
  std::ranges::sort(counts);
  fmt::print("instructions of {} steps: median {:.0f}, 99 % {:.0f}, most {:.0f}\n", counts.size(),
             counts[counts.size() / 2], counts[counts.size() - 1 - counts.size() / 100],
             counts.back());
}

int run(const std::string& program) {
  constexpr std::size_t kSteps = 1000000;
  const HybridSystem system = load("Saltus.FutureHybrid.Extended");
  RealtimeEngine engine(system, {.step = 1e-3, .stop_time = 8.0, .outputs = {"w_v"}});
  Reiter reiter(1e-3);
  double w_v = 0.0;
  for (int k = 0; k < 8000; ++k) engine.step();
  for (int k = 0; k < 8000; ++k) reiter.step();
  engine.read_outputs(&w_v);
  fmt::print("vehicle after 8 s: engine {:.6f}, Reiter's scheme {:.6f} rad/s\n", w_v,
             reiter.vehicle());
  bool holds = judge("difference of the two, relative", std::abs(w_v / reiter.vehicle() - 1), 1e-2);
  const Times ours = measure(kSteps, [&] {
    engine.step();
    engine.read_outputs(&w_v);
  });
  const Times theirs = measure(kSteps, [&] { reiter.step(); });
  fmt::print("a million steps without an event: {:.3f} us, Reiter's scheme by hand {:.3f} us\n",
             ours.median, theirs.median);
  holds = judge("FutureHybrid.Extended, median, us", ours.median, 0.5) && holds;
  holds = judge("... 99.9 % over the median", ours.p999 / ours.median, 3.0) && holds;
  fmt::print("... over Reiter's scheme by hand: {:.2f}\n", ours.median / theirs.median);
  holds = judge("FourSpeed.FullLoad, median, us",
                measure_model("Saltus.FourSpeed.FullLoad", 20.0, "car.v").median, 5.0) &&
          holds;
  holds =
      judge("NAG, median, us", measure_model("Saltus.Examples.NAG", 7.0, "P1.w_s").median, 15.0) &&
      holds;
  count_instructions(program);
  return holds ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc > 1 ? run_counted() : run(argv[0]);
  } catch (const Error& error) {
    fmt::print("error: {}\n", error.message());
    return 2;
  }
}
