#include "modelica/numeric_natives.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "expr/function.h"
#include "linalg/dense.h"

namespace saltus {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Arguments = std::vector<NamedValue>;

constexpr std::size_t kMostTransformed = 512;

std::size_t rows_of(const Value& v) { return v.dimensions.at(0); }
std::size_t columns_of(const Value& v) { return v.dimensions.size() > 1 ? v.dimensions[1] : 1; }

bool is_known(const Value& v) {
  for (const Expr& e : v.numbers)
    if (!e.is_number()) return false;
  return true;
}

Matrix matrix_of(const Value& v, const std::string& function, const Place& place) {
  if (!is_known(v))
    throw Error(
        fmt::format("external function '{}' with arguments that vary: not supported", function),
        place.location());
  Matrix m(rows_of(v), columns_of(v));
  for (std::size_t k = 0; k < v.numbers.size(); ++k) m.data()[k] = v.numbers[k].number();
  return m;
}

Value value_of(const Matrix& m, const Dimensions& shape) {
  std::vector<Expr> numbers;
  for (Eigen::Index k = 0; k < m.size(); ++k) numbers.emplace_back(m.data()[k]);
  return Value::array(BasicType::kReal, shape, std::move(numbers));
}

// Element i of the solution x of A x = b. Its arguments are those of A, row by row, then those of
// b.
std::shared_ptr<const Function> solution(std::size_t n, std::size_t i) {
  auto f = std::make_shared<Function>();
  f->name = fmt::format("linear solution {} of {}", i + 1, n);
  f->arity = n * n + n;
  f->evaluate = [n, i](const double* arguments) {
    const auto size = static_cast<Eigen::Index>(n);
    const Eigen::Map<const Matrix> a(arguments, size, size);
    const Eigen::Map<const Eigen::VectorXd> b(arguments + n * n, size);
    const Eigen::VectorXd x = PartialLu(a).solve(b);
    return x.allFinite() ? x(static_cast<Eigen::Index>(i))
                         : std::numeric_limits<double>::quiet_NaN();
  };
  // A dx = db - dA x
  f->partial = [n, i](std::size_t k, const std::vector<Expr>& arguments) {
    std::vector<Expr> unit(arguments.begin(), arguments.end() - static_cast<std::ptrdiff_t>(n));
    const std::size_t row = k < n * n ? k / n : k - n * n;
    for (std::size_t r = 0; r < n; ++r) unit.emplace_back(r == row ? 1.0 : 0.0);
    const Expr inverse = call(solution(n, i), unit);
    return k < n * n ? -inverse * call(solution(n, k % n), arguments) : inverse;
  };
  return f;
}

std::vector<Value> solve(const Arguments& arguments, const Place& place) {
  const Value& a = arguments.at(0).second;
  const Value& b = arguments.at(1).second;
  const std::size_t n = rows_of(a);
  const std::size_t columns = columns_of(b);
  if (columns_of(a) != n || rows_of(b) != n)
    throw Error(fmt::format("a linear system with a matrix {} and a right side {}",
                            to_text(a.dimensions), to_text(b.dimensions)),
                place.location());
  if (is_known(a) && is_known(b)) {
    const Matrix m = matrix_of(a, "", place);
    const PartialLu lu(m);
    if (lu.has_zero_pivot()) return {b, Value::integer(1.0)};
    return {value_of(lu.solve_all(matrix_of(b, "", place)), b.dimensions), Value::integer(0.0)};
  }
  Value x = b;
  x.type = BasicType::kReal;
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<Expr> given = a.numbers;
    for (std::size_t r = 0; r < n; ++r) given.push_back(b.numbers[r * columns + c]);
    for (std::size_t i = 0; i < n; ++i) x.numbers[i * columns + c] = call(solution(n, i), given);
  }
  return {x, Value::integer(0.0)};
}

// Solution of least norm of the least-squares problem; the rank counts what the largest pivot times
// rcond, or rounding, leaves.
std::vector<Value> least_squares(const std::string& function, const Arguments& arguments,
                                 const Place& place) {
  const Matrix a = matrix_of(arguments.at(0).second, function, place);
  const Matrix b = matrix_of(arguments.at(1).second, function, place);
  const double rcond =
      arguments.size() > 2
          ? matrix_of(Value::array(BasicType::kReal, {1}, {arguments[2].second.number()}), function,
                      place)(0, 0)
          : 0.0;
  const LeastNorm decomposition(a, rcond);
  const Eigen::Index rows = std::max(a.rows(), a.cols());
  Matrix x = Matrix::Zero(rows, b.cols());
  x.topRows(a.cols()) = decomposition.solve_all(b);
  Dimensions shape{static_cast<std::size_t>(rows)};
  if (arguments[1].second.dimensions.size() > 1) shape.push_back(columns_of(arguments[1].second));
  return {value_of(x, shape), Value::integer(0.0),
          Value::integer(static_cast<double>(decomposition.rank()))};
}

// A = P L U with row interchanges, both factors in one matrix.
std::vector<Value> factor(const std::string& function, const Arguments& arguments,
                          const Place& place) {
  Matrix a = matrix_of(arguments.at(0).second, function, place);
  const Eigen::Index steps = std::min(a.rows(), a.cols());
  std::vector<Expr> pivots;
  double info = 0.0;
  for (Eigen::Index k = 0; k < steps; ++k) {
    Eigen::Index p = 0;
    a.col(k).tail(a.rows() - k).cwiseAbs().maxCoeff(&p);
    p += k;
    pivots.emplace_back(static_cast<double>(p + 1));
    a.row(k).swap(a.row(p));
    if (a(k, k) == 0.0) {
      if (info == 0.0) info = static_cast<double>(k + 1);
      continue;
    }
    for (Eigen::Index r = k + 1; r < a.rows(); ++r) {
      a(r, k) /= a(k, k);
      a.row(r).tail(a.cols() - k - 1) -= a(r, k) * a.row(k).tail(a.cols() - k - 1);
    }
  }
  const std::size_t count = pivots.size();
  return {value_of(a, arguments[0].second.dimensions),
          Value::array(BasicType::kInteger, {count}, std::move(pivots)), Value::integer(info)};
}

// Solves with the factors that factor() gave; without a right side, for the inverse.
std::vector<Value> solve_factored(const std::string& function, const Arguments& arguments,
                                  const Place& place) {
  const Matrix lu = matrix_of(arguments.at(0).second, function, place);
  const Matrix pivots = matrix_of(arguments.at(1).second, function, place);
  const Eigen::Index n = lu.rows();
  const bool has_right = arguments.size() > 2;
  Matrix x = has_right ? matrix_of(arguments[2].second, function, place) : Matrix(n, n);
  if (!has_right) x.setIdentity();
  if (lu.cols() != n || pivots.size() != n || x.rows() != n)
    throw Error(fmt::format("'{}' is given arrays that do not fit together", function),
                place.location());
  for (Eigen::Index k = 0; k < n; ++k) {
    const auto p = static_cast<Eigen::Index>(pivots(k, 0)) - 1;
    if (p < k || p >= n)
      throw Error(fmt::format("'{}' is given a pivot {} in row {}", function, p + 1, k + 1),
                  place.location());
    x.row(k).swap(x.row(p));
  }
  lu.triangularView<Eigen::UnitLower>().solveInPlace(x);
  lu.triangularView<Eigen::Upper>().solveInPlace(x);
  const double info = n > 0 && lu.diagonal().cwiseAbs().minCoeff() == 0.0 ? 1.0 : 0.0;
  return {value_of(x, has_right ? arguments[2].second.dimensions : arguments[0].second.dimensions),
          Value::integer(info)};
}

std::vector<Value> singular_values(const std::string& function, const Arguments& arguments,
                                   const Place& place) {
  const Matrix a = matrix_of(arguments.at(0).second, function, place);
  const bool only_values = function.ends_with("_sigma");
  const SingularValues svd = saltus::singular_values(a);
  const Matrix sigma = svd.s;
  std::vector<Value> results{value_of(sigma, {static_cast<std::size_t>(sigma.size())})};
  if (!only_values) {
    const auto m = static_cast<std::size_t>(a.rows());
    const auto n = static_cast<std::size_t>(a.cols());
    results.push_back(value_of(svd.u, {m, m}));
    results.push_back(value_of(svd.v.transpose(), {n, n}));
  }
  results.push_back(Value::integer(0.0));
  return results;
}

std::vector<Value> eigenvalues(const std::string& function, const Arguments& arguments,
                               const Place& place) {
  const Matrix a = matrix_of(arguments.at(0).second, function, place);
  const auto n = static_cast<std::size_t>(a.rows());
  const Eigenvalues found = saltus::eigenvalues(a, !function.ends_with("_eigenValues"));
  std::vector<Value> results{value_of(found.values.real(), {n}),
                             value_of(found.values.imag(), {n})};
  // Real and imaginary parts of a pair stand in two columns, as pseudo eigenvectors do not: they
  // are taken from the complex ones, which have length 1.
  if (!function.ends_with("_eigenValues")) {
    const Eigen::MatrixXcd vectors = found.vectors;
    Matrix columns = vectors.real();
    for (Eigen::Index c = 0; c + 1 < columns.cols(); ++c)
      if (found.values(c).imag() > 0.0) {
        columns.col(c + 1) = vectors.col(c).imag();
        ++c;
      }
    results.push_back(value_of(columns, {n, n}));
  }
  results.push_back(Value::integer(found.converged ? 0.0 : 1.0));
  return results;
}

// Real or imaginary part k of the transform of n numbers.
Expr transform(std::size_t k, bool imaginary, const std::vector<Expr>& u) {
  const std::size_t n = u.size();
  const auto weight = [n, k, imaginary](std::size_t j) {
    const double angle =
        2.0 * std::numbers::pi * static_cast<double>(k * j % n) / static_cast<double>(n);
    return imaginary ? -std::sin(angle) : std::cos(angle);
  };
  auto f = std::make_shared<Function>();
  f->name =
      fmt::format("{} part {} of the transform of {}", imaginary ? "imaginary" : "real", k, n);
  f->arity = n;
  f->evaluate = [n, weight](const double* x) {
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) sum += weight(j) * x[j];
    return sum;
  };
  f->partial = [weight](std::size_t j, const std::vector<Expr>&) { return Expr(weight(j)); };
  bool known = true;
  std::vector<double> numbers;
  for (const Expr& e : u) {
    known = known && e.is_number();
    if (known) numbers.push_back(e.number());
  }
  return known ? Expr(f->evaluate(numbers.data())) : call(f, u);
}

std::vector<Value> fourier(const Value& u, const Place& place) {
  const std::size_t n = u.numbers.size();
  // Each result is a function of all values.
  if (n > kMostTransformed && !is_known(u))
    throw Error(
        fmt::format("a Fourier transform of {} values that vary (at most {}): not supported", n,
                    kMostTransformed),
        place.location());
  const std::size_t count = n / 2 + 1;
  std::vector<Expr> amplitudes(count, Expr(0.0));
  std::vector<Expr> phases(count, Expr(0.0));
  if (n % 2 != 0)
    return {Value::integer(1.0), Value::array(BasicType::kReal, {count}, std::move(amplitudes)),
            Value::array(BasicType::kReal, {count}, std::move(phases))};
  for (std::size_t k = 0; k < count; ++k) {
    const Expr re = transform(k, false, u.numbers);
    const Expr im = transform(k, true, u.numbers);
    amplitudes[k] = sqrt(re * re + im * im) / static_cast<double>(count);
    phases[k] = atan2(im, re);
  }
  return {Value::integer(0.0), Value::array(BasicType::kReal, {count}, std::move(amplitudes)),
          Value::array(BasicType::kReal, {count}, std::move(phases))};
}

}  // namespace

std::optional<std::vector<Value>> call_numeric(const std::string& routine,
                                               const std::string& function,
                                               const Arguments& arguments, const Place& place) {
  if (routine == "ModelicaFFT_kiss_fftr") return fourier(arguments.at(0).second, place);
  if (routine == "dgesv") return solve(arguments, place);
  if (routine == "dgelsy") return least_squares(function, arguments, place);
  if (routine == "dgetrf") return factor(function, arguments, place);
  if (routine == "dgetrs" || routine == "dgetri") return solve_factored(function, arguments, place);
  if (routine == "dgesvd") return singular_values(function, arguments, place);
  if (routine == "dgeev") return eigenvalues(function, arguments, place);
  return std::nullopt;
}

}  // namespace saltus
