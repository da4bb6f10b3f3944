#include "expr/break_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "expr/graph.h"
#include "expr/number.h"
#include "expr/table.h"
#include "expr/traverse.h"

namespace saltus {
namespace {

// Tables with more knots than this are data taken at a rate: the error control follows them.
constexpr std::size_t kMostKnots = 100;

class KinkFinder {
 public:
  explicit KinkFinder(std::span<const double> parameters) : parameters_(parameters) {}

  // Children have been looked at.
  void look_at(const Node* node) {
    Course course;
    switch (node->op) {
      case Op::kConstant:
      case Op::kParameter:
        break;
      case Op::kTime:
        course.changes = true;
        break;
      case Op::kVariable:
      case Op::kSlot:
      case Op::kCall:
        return;
      default:
        for (const Node* child : node->children) {
          const auto found = courses_.find(child);
          if (found == courses_.end()) return;
          course.changes = course.changes || found->second.changes;
          add(found->second.kinks, course.kinks);
        }
        if (course.changes) add_own(node, course.kinks);
    }
    add(course.kinks, all_);
    courses_.emplace(node, std::move(course));
  }

  std::vector<BreakTime> all() const {
    std::vector<BreakTime> result;
    for (const auto& [time, is_jump] : all_) result.push_back({time, is_jump});
    return result;
  }

 private:
  using Kinks = std::map<double, bool>;  // time, whether it is a jump

  // A function of time alone.
  struct Course {
    bool changes = false;
    Kinks kinks;
  };

  static void add(const Kinks& more, Kinks& kinks) {
    for (const auto& [time, is_jump] : more) kinks[time] |= is_jump;
  }

  void add_own(const Node* node, Kinks& kinks) {
    std::vector<double> inner;
    for (const auto& [time, is_jump] : kinks) inner.push_back(time);
    const auto& arguments = node->children;
    const auto add_roots = [&](const Node* b, double level, bool are_jumps) {
      for (const double root : roots(arguments[0], b, level, inner)) kinks[root] |= are_jumps;
    };
    switch (node->op) {
      case Op::kAbs:
        add_roots(nullptr, 0.0, false);
        break;
      case Op::kSign:
        add_roots(nullptr, 0.0, true);
        break;
      case Op::kMin:
      case Op::kMax:
        add_roots(arguments[1], 0.0, false);
        break;
      case Op::kLess:
      case Op::kLessEqual:
        add_roots(arguments[1], 0.0, true);
        break;
      case Op::kTable:
        if (node->table->x.size() <= kMostKnots)
          for (const double knot : node->table->x) add_roots(nullptr, knot, false);
        break;
      default:
        break;
    }
  }

  // Where a - b - level vanishes, piece by piece between the kinks it has itself.
  std::vector<double> roots(const Node* a, const Node* b, double level,
                            const std::vector<double>& inner) {
    std::vector<double> found;
    const auto value = [&](double t) {
      return evaluate(a, t) - (b == nullptr ? 0.0 : evaluate(b, t)) - level;
    };
    for (std::size_t piece = 0; piece <= inner.size(); ++piece) {
      const bool bounded_below = piece > 0;
      const bool bounded_above = piece < inner.size();
      double begin = bounded_below ? inner[piece - 1] : (bounded_above ? inner[piece] - 1.0 : 0.0);
      double end = bounded_above ? inner[piece] : begin + 1.0;
      const double width = end - begin;
      const double first = value(begin + 0.25 * width);
      const double middle = value(begin + 0.5 * width);
      const double last = value(begin + 0.75 * width);
      const double size = std::abs(first) + std::abs(last);
      if (!(std::abs(first - 2.0 * middle + last) <= 1e-9 * size) || first == last) continue;
      const double root = begin + 0.5 * width - middle * 0.5 * width / (last - first);
      if (!std::isfinite(root) || (bounded_below && root < begin) || (bounded_above && root > end))
        continue;
      found.push_back(root);
    }
    return found;
  }

  double evaluate(const Node* root, double t) {
    NodeMap position;
    std::vector<const Node*> order;
    append_postorder(root, position, order);
    values_.clear();
    for (const Node* node : order) {
      double a[3] = {0.0, 0.0, 0.0};
      for (std::size_t k = 0; k < std::min<std::size_t>(3, node->children.size()); ++k)
        a[k] = values_[position.find(node->children[k])];
      switch (node->op) {
        case Op::kConstant:
          values_.push_back(node->value);
          break;
        case Op::kTime:
          values_.push_back(t);
          break;
        case Op::kParameter:
          values_.push_back(parameters_[node->index]);
          break;
        case Op::kTable:
          values_.push_back(node->table->evaluate(a[0], node->order));
          break;
        default:
          values_.push_back(apply(node->op, a[0], a[1], a[2]));
      }
    }
    return values_.back();
  }

  std::span<const double> parameters_;
  std::unordered_map<const Node*, Course> courses_;
  Kinks all_;
  std::vector<double> values_;
};

}  // namespace

std::vector<BreakTime> break_times(std::span<const Expr> values,
                                   std::span<const double> parameters) {
  NodeMap position;
  std::vector<const Node*> order;
  for (const Expr& value : values)
    if (value.node() != nullptr) append_postorder(value.node(), position, order);
  KinkFinder finder(parameters);
  for (const Node* node : order) finder.look_at(node);
  return finder.all();
}

}  // namespace saltus
