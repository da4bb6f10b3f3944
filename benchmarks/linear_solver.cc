// Claim: up to kLargestRecorded (src/linalg/linear_solver.cc) unknowns the recorded elimination is
// at least as fast as KLU, for factor + solve as a Radau step needs them: one real and one complex
// system. Both run in turns; the best time of each counts. The sizes at which KLU wins are printed.

#include "linalg/linear_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using saltus::Backend;
using saltus::LinearSolver;
using saltus::Pattern;
using Complex = std::complex<double>;

Pattern from_sets(const std::vector<std::set<int>>& columns) {
  Pattern p{static_cast<int>(columns.size()), static_cast<int>(columns.size()), {0}, {}};
  for (const std::set<int>& rows : columns) {
    p.row.insert(p.row.end(), rows.begin(), rows.end());
    p.start.push_back(static_cast<int>(p.row.size()));
  }
  return p;
}

Pattern band(int n) {
  std::vector<std::set<int>> columns(n);
  for (int j = 0; j < n; ++j)
    for (int i = std::max(0, j - 2); i <= std::min(n - 1, j + 2); ++i) columns[j].insert(i);
  return from_sets(columns);
}

// Nodes of a circuit: a chain with random chords, and one supply node that many elements touch.
Pattern circuit(int n) {
  std::mt19937 random(3);
  std::vector<std::set<int>> columns(n);
  const auto join = [&](int a, int b) {
    columns[a].insert({a, b});
    columns[b].insert({a, b});
  };
  for (int j = 0; j < n; ++j) {
    join(j, (j + 1) % n);
    if (j % 3 == 0) join(j, std::uniform_int_distribution<>(0, n - 1)(random));
    if (j % 8 == 0) join(j, 0);
  }
  return from_sets(columns);
}

template <class Scalar>
std::vector<Scalar> values_of(const Pattern& p) {
  std::mt19937 random(5);
  std::uniform_real_distribution<> uniform(-1.0, 1.0);
  std::vector<Scalar> values;
  for (int j = 0; j < p.columns; ++j) {
    for (int k = p.start[j]; k < p.start[j + 1]; ++k) {
      const double diagonal = p.row[k] == j ? 8.0 : 0.0;
      if constexpr (std::is_same_v<Scalar, double>) {
        values.push_back(uniform(random) + diagonal);
      } else {
        values.push_back({uniform(random) + diagonal, uniform(random)});
      }
    }
  }
  return values;
}

struct Timed {
  double once = 0.0;  // s for one call
  std::function<void()> call;
};

// Best of seven rounds in turns, each of about a millisecond.
void measure(std::vector<Timed>& all) {
  using Clock = std::chrono::steady_clock;
  for (int round = 0; round < 8; ++round) {
    for (Timed& timed : all) {
      const int calls =
          round == 0 ? 3 : std::max(3, static_cast<int>(1e-3 / std::max(timed.once, 1e-9)));
      const auto begin = Clock::now();
      for (int k = 0; k < calls; ++k) timed.call();
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count() / calls;
      timed.once = round <= 1 ? seconds : std::min(timed.once, seconds);
    }
  }
}

template <class Scalar>
struct Bench {
  Bench(const Pattern& p, Backend backend) : solver(p, backend), values(values_of<Scalar>(p)) {
    b.assign(static_cast<std::size_t>(p.rows), Scalar(1.0));
  }
  void run() {
    solver.factor(values.data());
    x = b;
    solver.solve(x.data());
  }
  LinearSolver<Scalar> solver;
  std::vector<Scalar> values, b, x;
};

// Time of the recorded elimination over KLU's, real + complex.
double ratio(const Pattern& p, const std::string& name) {
  Bench<double> recorded(p, Backend::kRecorded), klu(p, Backend::kKlu);
  Bench<Complex> recorded_z(p, Backend::kRecorded), klu_z(p, Backend::kKlu);
  std::vector<Timed> all = {{0.0, [&] { recorded.run(); }},
                            {0.0, [&] { klu.run(); }},
                            {0.0, [&] { recorded_z.run(); }},
                            {0.0, [&] { klu_z.run(); }}};
  measure(all);
  const double both = (all[0].once + all[2].once) / (all[1].once + all[3].once);
  fmt::print("{:8} {:5}  {:9.2f} {:9.2f} {:6.2f}  {:9.2f} {:9.2f} {:6.2f}  {:6.2f}\n", name, p.rows,
             1e6 * all[0].once, 1e6 * all[1].once, all[0].once / all[1].once, 1e6 * all[2].once,
             1e6 * all[3].once, all[2].once / all[3].once, both);
  return both;
}

}  // namespace

int main() {
  constexpr int kThreshold = 200;
  fmt::print("{:8} {:>5}  {:>26}  {:>26}  {:>6}\n", "pattern", "n", "real: recorded KLU us ratio",
             "complex: recorded KLU ratio", "both");
  double log_sum = 0.0;
  int count = 0;
  for (const bool banded : {true, false}) {
    int crossover = 0;
    for (const int n : {3, 5, 8, 12, 20, 30, 50, 80, 120, 160, 200, 250, 300, 400}) {
      const double r = ratio(banded ? band(n) : circuit(n), banded ? "band" : "circuit");
      if (n <= kThreshold) {
        log_sum += std::log(r);
        ++count;
      }
      if (r > 1.0 && crossover == 0) crossover = n;
    }
    fmt::print("{}: {}\n", banded ? "band" : "circuit",
               crossover == 0 ? "the recorded elimination wins at every size"
                              : fmt::format("KLU wins first at n = {}", crossover));
  }
  const double mean = std::exp(log_sum / count);
  fmt::print("geometric mean up to n = {}: {:.2f} (at most 1)\n", kThreshold, mean);
  return mean <= 1.0 ? 0 : 1;
}
