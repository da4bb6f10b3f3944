#include "analysis/dependence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "analysis/sparse_null.h"
#include "analysis/structure.h"
#include "expr/differentiate.h"
#include "expr/traverse.h"

// Letters as in Pryce's structural analysis: c_i and d_j are the offsets of equations and unknowns,
// J the matrix of dF_i^(c_i) / dx_j^(d_j).

namespace saltus {
namespace {

constexpr int kPoints = 2;           // that must agree
constexpr double kRounding = 1e-11;  // of a sum of terms, relative to them
constexpr std::size_t kMostRounds = 100;

// Values of formulas at points without meaning: what vanishes at all of them vanishes everywhere.
class RandomPoints {
 public:
  RandomPoints(const DaeDefinition& mode, const std::vector<double>& parameters, double time,
               std::set<std::size_t>* read)
      : mode_(mode), parameters_(parameters), time_(time), read_(read) {}

  // [point][formula]
  std::vector<std::vector<double>> evaluate(const std::vector<Expr>& formulas) const {
    std::vector<Expr> symbols;
    for (const Expr& leaf : leaves_of(formulas)) {
      if (leaf.is_variable() || leaf.is_slot()) symbols.push_back(leaf);
      if (leaf.is_parameter() && read_ != nullptr) read_->insert(leaf.node()->parameter().index());
    }
    const Tape tape(formulas, {{mode_.time}, symbols, mode_.parameters});
    Tape::Workspace registers = tape.make_workspace();
    std::vector<std::vector<double>> results(kPoints, std::vector<double>(formulas.size()));
    for (unsigned point = 0; point < kPoints; ++point) {
      std::vector<double> at;
      for (const Expr& s : symbols)
        at.push_back(number(point, s.node()->index, s.is_slot() ? -1 : s.node()->order));
      const double t = time_ * number(point, 0, -2);
      const double* inputs[] = {&t, at.data(), parameters_.data()};
      tape.evaluate(inputs, registers, results[point].data());
    }
    return results;
  }

 private:
  // The same number for the same symbol whenever it is asked for.
  static double number(unsigned point, std::size_t index, int order) {
    std::seed_seq seed{point, static_cast<unsigned>(index), static_cast<unsigned>(order + 2)};
    std::minstd_rand random(seed);
    random.discard(3);
    return std::uniform_real_distribution<>(0.4, 1.6)(random);
  }

  const DaeDefinition& mode_;
  const std::vector<double>& parameters_;
  double time_;
  std::set<std::size_t>* read_;
};

bool all_finite(const std::vector<std::vector<double>>& values) {
  return std::ranges::all_of(values, [](const auto& at) {
    return std::ranges::all_of(at, [](double v) { return std::isfinite(v); });
  });
}

// Whether a formula is smooth and the same function throughout the run, such that random points
// tell what it is everywhere.
bool is_one_function(const Expr& a) {
  if (a.node() == nullptr) return true;
  NodeMap position;
  std::vector<const Node*> order;
  append_postorder(a.node(), position, order);
  return std::ranges::none_of(order, [](const Node* n) {
    switch (n->op) {
      case Op::kSlot:
      case Op::kAbs:
      case Op::kSign:
      case Op::kFloor:
      case Op::kCeil:
      case Op::kTrunc:
      case Op::kMin:
      case Op::kMax:
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kEqual:
      case Op::kSelect:
      case Op::kTable:
      case Op::kCall:
        return true;
      default:
        return false;
    }
  });
}

// Rounded to what the model can have meant, if that is nearer than rounding errors.
double tidy(double factor) {
  const double rounded = std::stod(fmt::format("{:.12g}", factor));
  return std::abs(rounded - factor) <= 1e-14 * std::abs(factor) ? rounded : factor;
}

class Resolver {
 public:
  Resolver(const DaeDefinition& mode, const std::vector<VariableId>& unknowns,
           const std::vector<double>& parameters, SplitScope scope, double time,
           std::set<std::size_t>* read)
      : written_(mode), unknowns_(unknowns), points_(mode, parameters, time, read), scope_(scope) {
    result_.definition = mode;
    for (std::size_t i = 0; i < mode.residuals.size(); ++i) sources_.push_back({i});
  }

  std::optional<ResolvedDependence> run() {
    const std::vector<Expr>& residuals = result_.definition.residuals;
    if (residuals.size() != unknowns_.size()) return std::nullopt;
    for (std::size_t i = 0; i < residuals.size(); ++i)
      if (residuals[i].is_number() && residuals[i].number() == 0.0) drop(i);
    for (std::size_t round = 0; round < kMostRounds; ++round) {
      if (!dropped_.empty() && !close()) return std::move(result_);
      signature_ = signature_of(residuals, unknowns_);
      offsets_ = find_offsets(signature_);
      if (offsets_.solvable ? !combine() : !drop_excess()) break;
      if (!result_.contradictory.empty()) return std::move(result_);
      changed_ = true;
    }
    if (!changed_ || gave_up_ || !offsets_.solvable) return std::nullopt;
    return std::move(result_);
  }

 private:
  // A matrix of derivatives, and which of its rows random points may be trusted with.
  struct Derivatives {
    std::vector<MatrixPlace> places;
    std::vector<Expr> entries;
    std::vector<bool> trusted;
  };

  Derivatives highest_derivatives() const {
    const DaeDefinition& def = result_.definition;
    const std::size_t n = unknowns_.size();
    std::vector<Expr> symbols = def.unknowns;
    symbols.insert(symbols.end(), def.derivatives.begin(), def.derivatives.end());
    Derivatives h;
    h.trusted.assign(n, true);
    for (const JacobianEntry& e : jacobian(def.residuals, symbols)) {
      const std::size_t j = e.column % n;
      const int order = e.column < n ? 0 : 1;
      if (order + offsets_.c[e.row] != offsets_.d[j]) continue;
      h.places.push_back({static_cast<int>(e.row), static_cast<int>(j)});
      h.entries.push_back(e.value);
      if (!is_one_function(e.value)) h.trusted[e.row] = false;
    }
    return h;
  }

  // Replaces dependent equations by combinations in which the highest derivatives cancel. False if
  // there are none.
  bool combine() {
    const Derivatives h = highest_derivatives();
    const auto n = static_cast<int>(unknowns_.size());
    const auto values = points_.evaluate(h.entries);
    if (!all_finite(values)) return false;
    const SparseMatrix j = assemble(n, n, h.places, values[0]);
    return !is_regular(j) && replace_each(null_vectors(j.transpose()), h, values);
  }

  // Where more equations than unknowns are in them: those of the excess that say the same or
  // contradict each other as they are written. False if there are none.
  bool drop_excess() {
    const DaeDefinition& def = result_.definition;
    const std::vector<std::size_t>& excess = offsets_.excess_equations;
    const std::size_t n = unknowns_.size();
    std::vector<Expr> symbols = def.unknowns;
    symbols.insert(symbols.end(), def.derivatives.begin(), def.derivatives.end());
    std::vector<Expr> residuals;
    for (const std::size_t i : excess) residuals.push_back(def.residuals[i]);
    Derivatives h;
    h.trusted.assign(n, true);
    std::vector<MatrixPlace> places;
    for (const JacobianEntry& e : jacobian(residuals, symbols)) {
      places.push_back({static_cast<int>(e.column), static_cast<int>(e.row)});
      h.places.push_back({static_cast<int>(excess[e.row]), static_cast<int>(e.column)});
      h.entries.push_back(e.value);
      if (!is_one_function(e.value)) h.trusted[excess[e.row]] = false;
    }
    const auto values = points_.evaluate(h.entries);
    if (!all_finite(values)) return false;
    std::vector<Combination> found = null_vectors(
        assemble(static_cast<int>(2 * n), static_cast<int>(excess.size()), places, values[0]));
    for (Combination& u : found)
      for (auto& part : u) part.first = excess[part.first];
    offsets_.c.assign(n, 0);  // as written
    if (!found.empty()) return replace_each(found, h, values);
    return drop_excess_of_levels(excess, 1) || drop_excess_of_levels(excess, 2);
  }

  // The same where some say of values what others say of slopes (phi = phi0 beside w = 0 and
  // w = der(phi)): combinations with derivatives of the equations. Row i + k * n is the k-th
  // derivative of equation i.
  bool drop_excess_of_levels(const std::vector<std::size_t>& excess, int highest) {
    const DaeDefinition& def = result_.definition;
    const std::size_t n = unknowns_.size();
    std::vector<Expr> residuals;
    std::vector<std::size_t> rows;
    for (int order = 0; order <= highest; ++order)
      for (const std::size_t i : excess) {
        residuals.push_back(der(def.residuals[i], order));
        rows.push_back(i + static_cast<std::size_t>(order) * n);
      }
    std::vector<Expr> symbols;
    for (const Expr& leaf : leaves_of(residuals))
      if (leaf.is_variable()) symbols.push_back(leaf);
    Derivatives h;
    h.trusted.assign((static_cast<std::size_t>(highest) + 1) * n, true);
    std::vector<MatrixPlace> places;
    for (const JacobianEntry& e : jacobian(residuals, symbols)) {
      places.push_back({static_cast<int>(e.column), static_cast<int>(e.row)});
      h.places.push_back({static_cast<int>(rows[e.row]), static_cast<int>(e.column)});
      h.entries.push_back(e.value);
      if (!is_one_function(e.value)) h.trusted[rows[e.row]] = false;
    }
    const auto values = points_.evaluate(h.entries);
    if (!all_finite(values)) return false;
    for (Combination u : null_vectors(assemble(static_cast<int>(symbols.size()),
                                               static_cast<int>(rows.size()), places, values[0]))) {
      for (auto& part : u) part.first = rows[part.first];
      if (!vanishes(u, h, values) ||
          !std::ranges::all_of(u, [&](const auto& part) { return h.trusted[part.first]; }))
        continue;
      offsets_.c.assign(n, 0);
      std::set<std::size_t> equations;
      bool is_twice = false;  // at both levels
      bool has_plain = false;
      for (auto& part : u) {
        const std::size_t i = part.first % n;
        is_twice = is_twice || !equations.insert(i).second;
        has_plain = has_plain || part.first < n;
        offsets_.c[i] = static_cast<int>(part.first / n);
        part.first = i;
      }
      if (!is_twice && has_plain && replace(u)) return true;
    }
    return false;
  }

  bool replace_each(const std::vector<Combination>& combinations, const Derivatives& h,
                    const std::vector<std::vector<double>>& values) {
    bool any = false;
    std::set<std::size_t> touched;
    for (const Combination& u : combinations) {
      gave_up_ = true;
      const bool usable = std::ranges::all_of(u, [&](const auto& part) {
        return h.trusted[part.first] && !touched.contains(part.first);
      });
      if (!usable || !vanishes(u, h, values)) continue;
      if (!replace(u)) continue;
      for (const auto& part : u) touched.insert(part.first);
      any = true;
    }
    if (any) gave_up_ = false;
    return any;
  }

  static bool vanishes(const Combination& u, const Derivatives& h,
                       const std::vector<std::vector<double>>& values) {
    std::vector<double> factor(h.trusted.size(), 0.0);
    for (const auto& [i, f] : u) factor[i] = f;
    for (const auto& at : values) {
      std::vector<double> sum(4 * factor.size(), 0.0);
      std::vector<double> size(4 * factor.size(), 0.0);
      for (std::size_t k = 0; k < h.places.size(); ++k) {
        const double term = factor[static_cast<std::size_t>(h.places[k].row)] * at[k];
        sum[static_cast<std::size_t>(h.places[k].column)] += term;
        size[static_cast<std::size_t>(h.places[k].column)] += std::abs(term);
      }
      for (std::size_t c = 0; c < sum.size(); ++c)
        if (std::abs(sum[c]) > kRounding * size[c]) return false;
    }
    return true;
  }

  // Puts the combination u in the place of one of its equations. False if it is not of first order.
  bool replace(const Combination& u) {
    DaeDefinition& def = result_.definition;
    std::size_t target = u.front().first;
    for (const auto& part : u)
      if (offsets_.c[part.first] < offsets_.c[target]) target = part.first;
    double unit = 1.0;
    for (const auto& [i, f] : u)
      if (i == target) unit = f;
    std::vector<Expr> terms;
    std::set<std::size_t> sources;
    for (const auto& [i, f] : u) {
      terms.push_back(Expr(tidy(f / unit)) *
                      der(def.residuals[i], offsets_.c[i] - offsets_.c[target]));
      sources.insert(sources_[i].begin(), sources_[i].end());
    }
    if (!remove_what_cancels(terms)) return false;
    Expr sum = 0.0;
    for (const Expr& term : terms) sum += term;
    const std::vector<std::size_t> equations(sources.begin(), sources.end());
    const bool has_unknowns =
        std::ranges::any_of(leaves_of(sum), [](const Expr& leaf) { return leaf.is_variable(); });
    if (!has_unknowns) {
      if (!is_zero(terms)) {
        const std::vector<Expr> leaves = leaves_of(sum);
        const bool of_slots = !leaves.empty() && std::ranges::all_of(leaves, [](const Expr& leaf) {
          return leaf.is_slot() || leaf.is_parameter();
        });
        if (scope_ == SplitScope::kConstant || !of_slots) {
          result_.contradictory = equations;
          return true;
        }
        result_.conditions.push_back(sum);
      }
      sources_[target] = equations;
      drop(target);
      return true;
    }
    for (const Expr& leaf : leaves_of(sum))
      if (leaf.is_variable() && leaf.node()->order > 1) return false;
    sources_[target] = equations;
    std::vector<std::string> names;
    for (const std::size_t i : equations) names.push_back(written_.equation_names[i]);
    def.residuals[target] = sum;
    def.equation_names[target] = fmt::format("combination of {}", fmt::join(names, "; "));
    return true;
  }

  // Sets variables on which the sum of the terms does not depend to a number. False if the sum
  // cannot be evaluated.
  bool remove_what_cancels(std::vector<Expr>& terms) const {
    std::vector<Expr> symbols;
    for (const Expr& leaf : leaves_of(terms))
      if (leaf.is_variable()) symbols.push_back(leaf);
    const std::vector<JacobianEntry> entries = jacobian(terms, symbols);
    std::vector<Expr> formulas;
    for (const JacobianEntry& e : entries) formulas.push_back(e.value);
    const auto values = points_.evaluate(formulas);
    std::vector<bool> cancels(symbols.size(), true);
    std::vector<bool> linear(symbols.size(), true);
    for (const auto& at : values) {
      std::vector<double> sum(symbols.size(), 0.0);
      std::vector<double> size(symbols.size(), 0.0);
      for (std::size_t k = 0; k < entries.size(); ++k) {
        if (!std::isfinite(at[k])) return false;
        sum[entries[k].column] += at[k];
        size[entries[k].column] += std::abs(at[k]);
        if (!is_constant_in_mode(entries[k].value)) linear[entries[k].column] = false;
      }
      for (std::size_t s = 0; s < symbols.size(); ++s)
        if (std::abs(sum[s]) > kRounding * size[s]) cancels[s] = false;
    }
    for (std::size_t k = 0; k < entries.size(); ++k)
      if (!is_one_function(entries[k].value)) cancels[entries[k].column] = false;
    std::vector<Expr> from;
    std::vector<Expr> to;
    for (std::size_t s = 0; s < symbols.size(); ++s) {
      if (!cancels[s]) continue;
      from.push_back(symbols[s]);
      to.emplace_back(linear[s] ? 0.0 : 1.0);
    }
    for (Expr& term : terms) term = substitute(term, from, to);
    return true;
  }

  bool is_zero(const std::vector<Expr>& terms) const {
    for (const auto& at : points_.evaluate(terms)) {
      double sum = 0.0;
      double size = 0.0;
      for (const double v : at) {
        sum += v;
        size += std::abs(v);
      }
      if (!(std::abs(sum) <= kRounding * size)) return false;
    }
    return true;
  }

  void drop(std::size_t equation) {
    dropped_.push_back(equation);
    result_.redundant.push_back(sources_[equation]);
    result_.definition.residuals[equation] = 0.0;
  }

  // Equations for the smallest multipliers in the place of redundant ones; false if more than the
  // split among multipliers is open.
  bool close() {
    DaeDefinition& def = result_.definition;
    const std::size_t n = unknowns_.size();
    std::vector<bool> algebraic(n, true);
    for (const JacobianEntry& e : jacobian(def.residuals, def.derivatives))
      algebraic[e.column] = false;
    std::vector<std::size_t> columns;
    std::vector<Expr> symbols;
    for (std::size_t j = 0; j < n; ++j) {
      if (!algebraic[j]) continue;
      columns.push_back(j);
      symbols.push_back(def.unknowns[j]);
    }
    std::vector<MatrixPlace> places;
    std::vector<Expr> entries;
    for (const JacobianEntry& e : jacobian(def.residuals, symbols)) {
      places.push_back({static_cast<int>(e.row), static_cast<int>(e.column)});
      entries.push_back(e.value);
    }
    const auto values = points_.evaluate(entries);
    const auto size = static_cast<int>(columns.size());
    std::vector<Combination> open;
    if (std::ranges::all_of(values[0], [](double v) { return std::isfinite(v); }))
      open = null_vectors(assemble(static_cast<int>(n), size, places, values[0]));
    std::set<std::size_t> free;
    // There may be more: what else is redundant is found afterwards.
    bool constant = open.size() >= dropped_.size();
    if (constant) open.resize(dropped_.size());
    const SparseMatrix second = assemble(static_cast<int>(n), size, places, values[1]);
    for (const Combination& w : open) {
      Eigen::VectorXd direction = Eigen::VectorXd::Zero(size);
      for (const auto& [j, f] : w) {
        free.insert(columns[j]);
        direction(static_cast<Eigen::Index>(j)) = f;
      }
      if (scope_ == SplitScope::kConstant &&
          !((second * direction).cwiseAbs().maxCoeff() <=
            kRounding * (second.cwiseAbs() * direction.cwiseAbs()).maxCoeff()))
        constant = false;
    }
    result_.free_unknowns.assign(free.begin(), free.end());
    if (!constant || concerns_the_redundant(free)) {
      result_.determined = false;
      if (free.empty())
        result_.free_unknowns = find_offsets(signature_of(def.residuals, unknowns_)).free_unknowns;
      return false;
    }
    for (std::size_t k = 0; k < open.size(); ++k) {
      Expr smallest = 0.0;
      for (const auto& [j, f] : open[k]) {
        const double unit = def.nominal[columns[j]];
        smallest += Expr(tidy(f / (unit * unit))) * symbols[j];
      }
      def.residuals[dropped_[k]] = smallest;
      def.equation_names[dropped_[k]] = "smallest split of forces";
      result_.closed.push_back(dropped_[k]);
    }
    dropped_.clear();
    changed_ = true;
    return true;
  }

  // Then it is not forces of constraints that are open but what the equations are about.
  bool concerns_the_redundant(const std::set<std::size_t>& free) const {
    std::set<std::size_t> variables;
    for (const std::size_t j : free) variables.insert(unknowns_[j].index());
    for (const auto& equations : result_.redundant)
      for (const std::size_t i : equations)
        for (const Expr& leaf : leaves_of(written_.residuals[i]))
          if (leaf.is_variable() && variables.contains(leaf.node()->index)) return true;
    return false;
  }

  const DaeDefinition& written_;
  const std::vector<VariableId>& unknowns_;
  RandomPoints points_;
  SplitScope scope_;
  ResolvedDependence result_;
  Signature signature_;
  Offsets offsets_;
  std::vector<std::vector<std::size_t>> sources_;  // equations of the mode in each one now
  std::vector<std::size_t> dropped_;
  bool changed_ = false;
  bool gave_up_ = false;
};

}  // namespace

std::optional<ResolvedDependence> resolve_dependence(const DaeDefinition& mode,
                                                     const std::vector<VariableId>& unknowns,
                                                     const std::vector<double>& parameters,
                                                     SplitScope scope, double time,
                                                     std::set<std::size_t>* read) {
  return Resolver(mode, unknowns, parameters, scope, time, read).run();
}

}  // namespace saltus
