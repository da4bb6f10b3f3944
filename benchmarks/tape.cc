// Claim: evaluating a compiled tape takes at most five times as long as the same expressions turned
// into C and compiled with `cc -O2`, for residuals and for Jacobian values, small models and large.
// Baseline and tape are timed in turns in the same run; the ratio of the best times counts.

#include "expr/tape.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "expr/differentiate.h"
#include "expr/graph.h"

namespace {

using saltus::Expr;
using saltus::Graph;
using saltus::Tape;

constexpr double kLimit = 5.0;
constexpr int kRounds = 300;
constexpr double kRoundSeconds = 5e-4;
constexpr double kAgreement = 1e-12;  // relative, tape against native

struct Model {
  std::string name;
  std::vector<Expr> residuals;
  std::vector<Expr> unknowns;
};

// Stiff kinetics: three species, mass action, Robertson's constants.
Model robertson(Graph& graph) {
  const Expr a = graph.new_variable("a");
  const Expr b = graph.new_variable("b");
  const Expr c = graph.new_variable("c");
  const Expr slow = 0.04 * a;
  const Expr fast = 1e4 * b * c;
  const Expr pair = 3e7 * b * b;
  return {
      "robertson", {der(a) + slow - fast, der(b) - slow + fast + pair, a + b + c - 1.0}, {a, b, c}};
}

// n masses joined by hardening springs and dampers.
Model springs(Graph& graph, int n) {
  Model model{fmt::format("springs {}", n), {}, {}};
  std::vector<Expr> x;
  std::vector<Expr> v;
  for (int i = 0; i < n; ++i) {
    x.push_back(graph.new_variable("x"));
    v.push_back(graph.new_variable("v"));
    model.unknowns.push_back(x.back());
    model.unknowns.push_back(v.back());
  }
  const Expr stiffness = graph.new_parameter("k");
  const Expr hardening = graph.new_parameter("h");
  const Expr damping = graph.new_parameter("d");
  Expr left = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Expr right = 0.0;
    if (i + 1 < x.size()) {
      const Expr stretch = x[i + 1] - x[i] - 1.0;
      right = stiffness * stretch + hardening * pow(stretch, 3) + damping * (v[i + 1] - v[i]);
    }
    model.residuals.push_back(der(x[i]) - v[i]);
    model.residuals.push_back(2.0 * der(v[i]) - (right - left));
    left = right;
  }
  return model;
}

// n stages of a transistor amplifier, capacitively coupled: two exponentials each.
Model amplifier(Graph& graph, int stages) {
  Model model{fmt::format("amplifier {}", stages), {}, {}};
  const Expr thermal = graph.new_parameter("U_F");
  const Expr resistance = graph.new_parameter("R");
  Expr input = 0.1 * sin(200.0 * graph.time());
  const auto diode = [&](const Expr& u) { return 1e-6 * (exp(u / thermal) - 1.0); };
  for (int i = 0; i < stages; ++i) {
    const Expr base = graph.new_variable("base");
    const Expr emitter = graph.new_variable("emitter");
    const Expr collector = graph.new_variable("collector");
    const Expr current = diode(base - emitter);
    const Expr leak = diode(base - collector);
    model.residuals.push_back(1e-6 * (der(base) - der(input)) + base / resistance +
                              (base - 6.0) / resistance + 0.01 * current + 0.001 * leak);
    model.residuals.push_back(2e-6 * der(emitter) + emitter / resistance - current);
    model.residuals.push_back(3e-6 * der(collector) + (collector - 6.0) / resistance +
                              0.99 * current + sin(collector) * cos(emitter) - tanh(leak));
    for (const Expr& e : {base, emitter, collector}) model.unknowns.push_back(e);
    input = collector;
  }
  return model;
}

using Native = void (*)(const double* const*, double*);

class Library {
 public:
  explicit Library(const std::string& source) {
    std::string pattern = (std::filesystem::temp_directory_path() / "saltus-tape-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
    std::ofstream(directory_ / "tape.c") << source;
    const std::string command = fmt::format(
        "cc -std=c99 -O2 -shared -fPIC -o '{0}/tape.so' '{0}/tape.c' -lm", directory_.string());
    if (std::system(command.c_str()) != 0) throw std::runtime_error("the C compiler failed");
    handle_ = dlopen((directory_ / "tape.so").c_str(), RTLD_NOW);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
    std::filesystem::remove_all(directory_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  Native function(const char* name) const { return reinterpret_cast<Native>(dlsym(handle_, name)); }

 private:
  std::filesystem::path directory_;
  void* handle_ = nullptr;
};

// One value of the input differs from call to call, as it does between the calls of a solver.
template <class Work>
double seconds(int repetitions, double& varied, Work&& work) {
  const double before = varied;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i) {
    varied = before + 1e-9 * i;
    work();
  }
  const auto stop = std::chrono::steady_clock::now();
  varied = before;
  return std::chrono::duration<double>(stop - start).count() / repetitions;
}

struct Timing {
  std::size_t instructions = 0;
  double tape = 0.0;
  double native = 0.0;
  double ratio() const { return tape / native; }
};

Timing measure(const std::vector<Expr>& outputs, const std::vector<Expr>& leaves) {
  const Tape tape(outputs, {leaves});
  const Library library(tape.to_c("f"));
  const Native native = library.function("f");
  std::vector<double> in(leaves.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0.3 + 0.1 * std::sin(static_cast<double>(i));
  const double* values[] = {in.data()};
  std::vector<double> by_tape(outputs.size());
  std::vector<double> by_native(outputs.size());
  Tape::Workspace workspace = tape.make_workspace();
  const auto run_tape = [&] { tape.evaluate(values, workspace, by_tape.data()); };
  const auto run_native = [&] { native(values, by_native.data()); };
  run_tape();
  run_native();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!(std::abs(by_tape[i] - by_native[i]) <= kAgreement * (1.0 + std::abs(by_native[i])))) {
      throw std::runtime_error(
          fmt::format("output {}: tape {} native {}", i, by_tape[i], by_native[i]));
    }
  }
  // Short rounds, many of them: the best of each side is free of what else the machine does.
  const int repetitions =
      std::max(3, static_cast<int>(kRoundSeconds / seconds(3, in[0], run_tape)));
  Timing best{tape.instruction_count(), 1e300, 1e300};
  for (int round = 0; round < kRounds; ++round) {
    best.tape = std::min(best.tape, seconds(repetitions, in[0], run_tape));
    best.native = std::min(best.native, seconds(repetitions, in[0], run_native));
  }
  return best;
}

}  // namespace

int main() {
  double worst = 0.0;
  std::string json;
  fmt::print("{:<16}{:<10}{:>14}{:>12}{:>12}{:>8}\n", "model", "what", "instructions", "tape ns",
             "native ns", "ratio");
  const auto report = [&](const std::string& model, const char* what, const Timing& t) {
    fmt::print("{:<16}{:<10}{:>14}{:>12.1f}{:>12.1f}{:>8.2f}\n", model, what, t.instructions,
               t.tape * 1e9, t.native * 1e9, t.ratio());
    json += fmt::format("{}{{\"model\":\"{}\",\"what\":\"{}\",\"ratio\":{:.3f}}}",
                        json.empty() ? "" : ",", model, what, t.ratio());
    worst = std::max(worst, t.ratio());
  };
  try {
    Graph graph;
    for (const Model& model : {robertson(graph), springs(graph, 5), springs(graph, 300),
                               amplifier(graph, 3), amplifier(graph, 30)}) {
      const std::vector<Expr> leaves = leaves_of(model.residuals);
      report(model.name, "residual", measure(model.residuals, leaves));
      std::vector<Expr> entries;
      for (const auto& entry : jacobian(model.residuals, model.unknowns)) {
        entries.push_back(entry.value);
      }
      report(model.name, "jacobian", measure(entries, leaves));
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_tape: {}\n", error.what());
    return 2;
  }
  fmt::print("{{\"benchmark\":\"tape\",\"limit\":{},\"worst\":{:.3f},\"ratios\":[{}]}}\n", kLimit,
             worst, json);
  return worst <= kLimit ? 0 : 1;
}
