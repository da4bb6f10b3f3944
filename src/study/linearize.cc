#include "study/linearize.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/suggest.h"
#include "expr/differentiate.h"
#include "linalg/dense.h"
#include "simulate/run.h"
#include "study/mode_point.h"
#include "study/names_of_system.h"

// Along E x' + K x + B u = 0, the linearised equations of the form that is integrated (E = F_x',
// K = F_x). That form has index 1 at most, so with Q2^T E = 0 the rows Q2^T (K x + B u) = 0 are all
// constraints. They give x = W s + L u for the states s, and what is left is
// Q1^T E W s' = -Q1^T (K W s + (K L + B) u).

namespace saltus {
namespace {

using Eigen::MatrixXd;
using Index = Eigen::Index;

constexpr double kRankTolerance = 1e-11;

DenseMatrix to_dense(const MatrixXd& m) {
  DenseMatrix result(static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols()));
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j)
      result.at(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = m(i, j);
  return result;
}

MatrixXd to_eigen(const DenseMatrix& m) {
  MatrixXd result(static_cast<Index>(m.rows), static_cast<Index>(m.columns));
  for (std::size_t i = 0; i < m.rows; ++i)
    for (std::size_t j = 0; j < m.columns; ++j)
      result(static_cast<Index>(i), static_cast<Index>(j)) = m.at(i, j);
  return result;
}

// The mode in force with the numbers of the point: all that is differentiated here.
class LinearisedMode {
 public:
  LinearisedMode(const HybridSystem& system, ModePoint& point)
      : system_(system), run_(*point.run), t_(point.time), dae_(run_.dae()) {
    const std::size_t n = dae_.unknown_count();
    const Pattern& pattern = dae_.pattern();
    std::vector<double> values(2 * static_cast<std::size_t>(pattern.nonzeros()));
    dae_.jacobian(run_.data(), t_, run_.point().data(), run_.slope().data(), values.data());
    k_ = MatrixXd::Zero(pattern.rows, static_cast<Index>(n));
    e_ = k_;
    for (int j = 0; j < pattern.columns; ++j)
      for (int at = pattern.start[static_cast<std::size_t>(j)];
           at < pattern.start[static_cast<std::size_t>(j) + 1]; ++at) {
        const auto i = pattern.row[static_cast<std::size_t>(at)];
        k_(i, j) = values[static_cast<std::size_t>(at)];
        e_(i, j) =
            values[static_cast<std::size_t>(pattern.nonzeros()) + static_cast<std::size_t>(at)];
      }
    if (!k_.allFinite() || !e_.allFinite())
      throw Error(
          fmt::format("the derivatives of the equations of mode '{}' are not finite at "
                      "t = {:.10g}",
                      run_.mode().name, t_));
  }

  // Derivatives of an expression in the symbols of the form by all its inputs.
  struct Gradient {
    double value = 0.0;
    MatrixXd by_x, by_dx;              // rows
    std::vector<double> by_parameter;  // of the listed ones
  };

  Gradient differentiate(const Expr& written, const std::vector<Expr>& parameters) {
    const DaeDefinition& def = dae_.definition();
    const Expr a = run_.analysed().rewrite(written);
    std::vector<Expr> leaves = def.unknowns;
    leaves.insert(leaves.end(), def.derivatives.begin(), def.derivatives.end());
    std::vector<std::size_t> places;  // of the inputs that are parameters
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (!parameters[k].is_parameter()) continue;
      places.push_back(k);
      leaves.push_back(parameters[k]);
    }
    const Expr list[] = {a};
    const std::vector<JacobianEntry> entries = jacobian(list, leaves);
    std::vector<Expr> outputs = {a};
    for (const JacobianEntry& entry : entries) outputs.push_back(entry.value);
    const std::vector<double> numbers = evaluate(outputs);
    const auto n = static_cast<Index>(def.unknowns.size());
    Gradient g;
    g.value = numbers[0];
    g.by_x = g.by_dx = MatrixXd::Zero(1, n);
    g.by_parameter.assign(parameters.size(), 0.0);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const auto column = static_cast<Index>(entries[k].column);
      if (column < n) {
        g.by_x(0, column) = numbers[k + 1];
      } else if (column < 2 * n) {
        g.by_dx(0, column - n) = numbers[k + 1];
      } else {
        g.by_parameter[places[static_cast<std::size_t>(column - 2 * n)]] = numbers[k + 1];
      }
    }
    return g;
  }

  // B, one column an input.
  MatrixXd input_matrix(const std::vector<std::string>& inputs, std::vector<Expr>& parameters) {
    MatrixXd b = MatrixXd::Zero(e_.rows(), static_cast<Index>(inputs.size()));
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const auto parameter = std::ranges::find(system_.parameters(), inputs[k], &Parameter::name);
      parameters.push_back(parameter == system_.parameters().end() ? Expr(0.0) : parameter->symbol);
      if (parameter != system_.parameters().end()) {
        add_parameter(*parameter, b, static_cast<Index>(k));
      } else {
        add_variable(inputs[k], b, static_cast<Index>(k));
      }
    }
    return b;
  }

  const MatrixXd& e() const { return e_; }
  const MatrixXd& k() const { return k_; }
  const Dae& dae() const { return dae_; }
  const std::vector<double>& x() const { return run_.point(); }

 private:
  std::vector<double> evaluate(const std::vector<Expr>& outputs) {
    const Tape tape(outputs, dae_.definition().inputs(), TapeCode::kInterpreted);
    Tape::Workspace registers = tape.make_workspace();
    std::vector<double> numbers(outputs.size());
    const double* groups[] = {&t_, run_.point().data(), run_.slope().data(),
                              run_.data().parameters.data(), run_.data().held.data()};
    tape.evaluate(groups, registers, numbers.data());
    return numbers;
  }

  // Where an equation is differentiated, the derivative of the input would be another input.
  void refuse_differentiated(const Expr& symbol, const std::string& input) const {
    const AnalysedMode& mode = run_.analysed();
    if (mode.reduced == nullptr && mode.projected == nullptr) return;
    for (std::size_t i = 0; i < mode.written.residuals.size(); ++i) {
      const bool is_differentiated = mode.reduced == nullptr || mode.reduced->differentiated[i] > 0;
      if (!is_differentiated || partial(mode.written.residuals[i], symbol).same_as(Expr(0.0)))
        continue;
      const std::vector<Expr> leaves = leaves_of(mode.written.residuals[i]);
      if (std::ranges::none_of(leaves, [&](const Expr& l) { return l.same_as(symbol); })) continue;
      throw Error(
          fmt::format("the constraints of mode '{}' depend on derivatives of the input "
                      "'{}', through {}: there is no B without them; take the "
                      "highest derivative that occurs as the input",
                      mode.mode->name, input, mode.written.equation_names[i]));
    }
  }

  void add_parameter(const Parameter& parameter, MatrixXd& b, Index column) {
    refuse_differentiated(parameter.symbol, parameter.name);
    std::vector<Expr> residuals;
    for (std::size_t i = 0; i < dae_.equation_count(); ++i) residuals.push_back(dae_.formula(i));
    const Expr leaves[] = {parameter.symbol};
    const std::vector<JacobianEntry> entries = jacobian(residuals, leaves);
    std::vector<Expr> outputs;
    for (const JacobianEntry& entry : entries) outputs.push_back(entry.value);
    const std::vector<double> numbers = evaluate(outputs);
    for (std::size_t k = 0; k < entries.size(); ++k)
      b(static_cast<Index>(entries[k].row), column) = numbers[k];
  }

  // A variable whose equation reads time only: that equation is moved.
  void add_variable(const std::string& name, MatrixXd& b, Index column) {
    const Expr symbol = find_result(system_, name);
    if (!symbol.is_variable() || symbol.node()->order != 0)
      throw Error(
          fmt::format("'{}' is no input: it is neither a parameter nor a variable that an "
                      "equation gives as a function of time",
                      name));
    for (std::size_t i = 0; i < dae_.equation_count(); ++i) {
      const std::vector<Expr> leaves = leaves_of(dae_.formula(i));
      bool reads_it = false;
      bool reads_others = false;
      for (const Expr& leaf : leaves) {
        if (leaf.same_as(symbol)) {
          reads_it = true;
        } else {
          reads_others = reads_others || leaf.is_variable();
        }
      }
      if (!reads_it || reads_others) continue;
      refuse_differentiated(symbol, name);
      b(static_cast<Index>(i), column) = -evaluate({partial(dae_.formula(i), symbol)}).front();
      return;
    }
    throw Error(
        fmt::format("'{}' is no input of mode '{}': no equation gives it as a function of "
                    "time alone; give it with --input, or take a parameter",
                    name, run_.mode().name));
  }

  const HybridSystem& system_;
  ModeRun& run_;
  double t_;
  const Dae& dae_;
  MatrixXd e_, k_;
};

// Unknowns that determine all others: those under der(), or so many of them as are free.
std::vector<Index> choose_states(const MatrixXd& e, Index rank) {
  std::vector<Index> differential;
  for (Index j = 0; j < e.cols(); ++j)
    if (e.col(j).cwiseAbs().maxCoeff() > 0.0) differential.push_back(j);
  if (static_cast<Index>(differential.size()) == rank) return differential;
  const PivotedQr qr(e(Eigen::all, differential));
  std::vector<Index> chosen;
  for (Index k = 0; k < rank; ++k)
    chosen.push_back(differential[static_cast<std::size_t>(qr.chosen(k))]);
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<std::complex<double>> sorted_eigenvalues(const MatrixXd& a) {
  std::vector<std::complex<double>> values;
  if (a.rows() == 0) return values;
  const Eigen::VectorXcd found = eigenvalues(a, false).values;
  values.assign(found.begin(), found.end());
  std::ranges::sort(values, [](const auto& p, const auto& q) {
    return p.real() != q.real() ? p.real() < q.real() : p.imag() < q.imag();
  });
  return values;
}

// Finite s at which [A - sI, B; C, D] loses rank: eigenvalues of the pencil.
std::vector<std::complex<double>> transmission_zeros(const MatrixXd& a, const MatrixXd& b,
                                                     const MatrixXd& c, const MatrixXd& d) {
  std::vector<std::complex<double>> zeros;
  if (b.cols() != c.rows() || b.cols() == 0) return zeros;
  const Index n = a.rows(), m = b.cols();
  MatrixXd s(n + m, n + m), identity = MatrixXd::Zero(n + m, n + m);
  s << a, b, c, d;
  identity.topLeftCorner(n, n).setIdentity();
  const double size = s.norm() + 1.0;
  const PencilEigenvalues pencil = eigenvalues(s, identity, false);
  for (Index k = 0; k < n + m; ++k) {
    const std::complex<double> alpha = pencil.alpha(k);
    const double beta = pencil.beta(k);
    if (std::abs(beta) <= 1e-10 * std::max(std::abs(alpha) / size, 1e-5)) continue;
    zeros.push_back(alpha / beta);
  }
  std::ranges::sort(zeros, [](const auto& p, const auto& q) {
    return p.real() != q.real() ? p.real() < q.real() : p.imag() < q.imag();
  });
  return zeros;
}

// exp(M) by scaling, a Taylor polynomial and squaring.
MatrixXd exponential(const MatrixXd& m) {
  int halvings = 0;
  for (double norm = m.cwiseAbs().rowwise().sum().maxCoeff(); norm > 0.25; norm /= 2.0) ++halvings;
  const MatrixXd scaled = m / std::pow(2.0, halvings);
  MatrixXd result = MatrixXd::Identity(m.rows(), m.cols());
  MatrixXd term = result;
  for (int k = 1; k <= 14; ++k) {
    term = (term * scaled / k).eval();
    result += term;
  }
  for (int k = 0; k < halvings; ++k) result = (result * result).eval();
  return result;
}

}  // namespace

std::vector<std::complex<double>> Linearization::transfer(std::complex<double> s) const {
  const Index n = static_cast<Index>(a.rows);
  Eigen::MatrixXcd matrix = -to_eigen(a).cast<std::complex<double>>();
  matrix.diagonal().array() += s;
  Eigen::MatrixXcd g = to_eigen(d).cast<std::complex<double>>();
  if (n > 0)
    g += to_eigen(c) * matrix.partialPivLu().solve(to_eigen(b).cast<std::complex<double>>());
  std::vector<std::complex<double>> values;
  for (Index i = 0; i < g.rows(); ++i)
    for (Index j = 0; j < g.cols(); ++j) values.push_back(g(i, j));
  return values;
}

DenseMatrix Linearization::step_response(std::size_t input, double dt, std::size_t points) const {
  // The input is one more state that stays one.
  const Index n = static_cast<Index>(a.rows);
  MatrixXd extended = MatrixXd::Zero(n + 1, n + 1);
  extended.topLeftCorner(n, n) = to_eigen(a);
  extended.topRightCorner(n, 1) = to_eigen(b).col(static_cast<Index>(input));
  const MatrixXd advance = exponential(extended * dt);
  MatrixXd out(static_cast<Index>(outputs.size()), n + 1);
  out << to_eigen(c), to_eigen(d).col(static_cast<Index>(input));
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n + 1);
  x(n) = 1.0;
  MatrixXd values(static_cast<Index>(points), out.rows());
  for (Index k = 0; k < values.rows(); ++k, x = (advance * x).eval())
    values.row(k) = (out * x).transpose();
  return to_dense(values);
}

DenseMatrix Linearization::impulse_response(std::size_t input, double dt,
                                            std::size_t points) const {
  const MatrixXd advance = exponential(to_eigen(a) * dt);
  Eigen::VectorXd x = to_eigen(b).col(static_cast<Index>(input));
  MatrixXd values(static_cast<Index>(points), static_cast<Index>(outputs.size()));
  for (Index k = 0; k < values.rows(); ++k, x = (advance * x).eval())
    values.row(k) = (to_eigen(c) * x).transpose();
  return to_dense(values);
}

namespace {

Linearization linearize_at(ModePoint& point, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs) {
  const HybridSystem& run_system = point.simulation->system;
  LinearisedMode mode(run_system, point);
  std::vector<Expr> parameters;
  const MatrixXd b = mode.input_matrix(inputs, parameters);

  // Rows scaled alike, so that ranks do not depend on units of equations.
  MatrixXd e = mode.e(), k = mode.k();
  MatrixXd scaled_b = b;
  for (Index i = 0; i < e.rows(); ++i) {
    const double size = std::max(e.row(i).cwiseAbs().maxCoeff(), k.row(i).cwiseAbs().maxCoeff());
    if (size == 0.0) continue;
    e.row(i) /= size;
    k.row(i) /= size;
    scaled_b.row(i) /= size;
  }
  const Index n = e.cols();
  if (n == 0)
    throw Error(fmt::format("mode '{}' has no unknowns to linearise", point.run->mode().name));
  const PivotedQr qr(e, kRankTolerance);
  const Index rank = qr.rank();
  const MatrixXd q = qr.q();
  const MatrixXd q1 = q.leftCols(rank), q2 = q.rightCols(q.cols() - rank);
  const std::vector<Index> states = choose_states(e, rank);
  std::vector<Index> rest;
  for (Index j = 0; j < n; ++j)
    if (!std::ranges::binary_search(states, j)) rest.push_back(j);

  const MatrixXd constraints = q2.transpose() * k;
  std::optional<PivotedQr> solve_rest;
  if (!rest.empty()) {
    solve_rest.emplace(constraints(Eigen::all, rest));
    if (solve_rest->rank() < static_cast<Index>(rest.size()))
      throw Error(
          fmt::format("mode '{}' cannot be linearised at t = {:.10g}: its constraints do "
                      "not determine all unknowns there",
                      point.run->mode().name, point.time));
  }
  MatrixXd w = MatrixXd::Zero(n, rank), l = MatrixXd::Zero(n, b.cols());
  for (Index j = 0; j < rank; ++j) w(states[static_cast<std::size_t>(j)], j) = 1.0;
  if (!rest.empty()) {
    const MatrixXd follow = -solve_rest->solve(constraints(Eigen::all, states));
    const MatrixXd feed = -solve_rest->solve(q2.transpose() * scaled_b);
    for (std::size_t j = 0; j < rest.size(); ++j) {
      w.row(rest[j]) = follow.row(static_cast<Index>(j));
      l.row(rest[j]) = feed.row(static_cast<Index>(j));
    }
  }
  if (b.cols() > 0 && (e * l).cwiseAbs().maxCoeff() > 1e-9 * (1.0 + l.cwiseAbs().maxCoeff()))
    throw Error(fmt::format("mode '{}' depends on the derivative of an input; choose another one",
                            point.run->mode().name));
  MatrixXd a(rank, rank), b_states(rank, b.cols());
  if (rank > 0) {
    const PartialLu solve_mass(q1.transpose() * e * w);
    a = -solve_mass.solve_all(q1.transpose() * k * w);
    b_states = -solve_mass.solve_all(q1.transpose() * (k * l + scaled_b));
  }

  Linearization result;
  result.model = run_system.name();
  result.mode = point.run->mode().name;
  result.time = point.time;
  result.inputs = inputs;
  const DaeDefinition& def = mode.dae().definition();
  for (const Index j : states) {
    result.states.push_back(def.unknown_names[static_cast<std::size_t>(j)]);
    result.state_values.push_back(mode.x()[static_cast<std::size_t>(j)]);
  }
  MatrixXd c, d;
  if (outputs.empty()) {
    result.outputs = result.states;
    result.output_values = result.state_values;
    c = MatrixXd::Identity(rank, rank);
    d = MatrixXd::Zero(rank, b.cols());
  } else {
    c.resize(static_cast<Index>(outputs.size()), rank);
    d.resize(static_cast<Index>(outputs.size()), b.cols());
    result.outputs = outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const LinearisedMode::Gradient g =
          mode.differentiate(parse_result(run_system, outputs[i]), parameters);
      result.output_values.push_back(g.value);
      const auto row = static_cast<Index>(i);
      c.row(row) = g.by_x * w + g.by_dx * w * a;
      d.row(row) = g.by_x * l + g.by_dx * w * b_states;
      for (std::size_t j = 0; j < parameters.size(); ++j)
        d(row, static_cast<Index>(j)) += g.by_parameter[j];
    }
  }
  result.a = to_dense(a);
  result.b = to_dense(b_states);
  result.c = to_dense(c);
  result.d = to_dense(d);
  result.poles = sorted_eigenvalues(a);
  result.zeros = transmission_zeros(a, b_states, c, d);
  return result;
}

}  // namespace

Linearization linearize(const HybridSystem& system, double at,
                        const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const SimulateOptions& options) {
  ModePoint point(system, at, options);
  return linearize_at(point, inputs, outputs);
}

std::vector<std::complex<double>> poles_at(ModePoint& point, const SystemState& state) {
  SystemState there = state;
  if (!point.run->make_consistent(point.time, there).ok()) return {};
  return linearize_at(point, {}, {}).poles;
}

}  // namespace saltus
