#include "expr/break_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
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
          course.kinks.insert(found->second.kinks.begin(), found->second.kinks.end());
        }
        if (course.changes) add_own(node, course.kinks);
    }
    all_.insert(course.kinks.begin(), course.kinks.end());
    courses_.emplace(node, std::move(course));
  }

  std::vector<double> all() const { return {all_.begin(), all_.end()}; }

 private:
  // A function of time alone.
  struct Course {
    bool changes = false;
    std::set<double> kinks;
  };

  void add_own(const Node* node, std::set<double>& kinks) {
    const std::vector<double> inner(kinks.begin(), kinks.end());
    const auto& arguments = node->children;
    switch (node->op) {
      case Op::kAbs:
      case Op::kSign:
        add_roots(arguments[0], nullptr, 0.0, inner, kinks);
        break;
      case Op::kMin:
      case Op::kMax:
      case Op::kLess:
      case Op::kLessEqual:
        add_roots(arguments[0], arguments[1], 0.0, inner, kinks);
        break;
      case Op::kTable:
        if (node->table->x.size() <= kMostKnots)
          for (const double knot : node->table->x)
            add_roots(arguments[0], nullptr, knot, inner, kinks);
        break;
      default:
        break;
    }
  }

  // Where a - b - level vanishes, piece by piece between the kinks it has itself.
  void add_roots(const Node* a, const Node* b, double level, const std::vector<double>& inner,
                 std::set<double>& roots) {
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
      roots.insert(root);
    }
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
  std::set<double> all_;
  std::vector<double> values_;
};

}  // namespace

std::vector<double> break_times(std::span<const Expr> values, std::span<const double> parameters) {
  NodeMap position;
  std::vector<const Node*> order;
  for (const Expr& value : values)
    if (value.node() != nullptr) append_postorder(value.node(), position, order);
  KinkFinder finder(parameters);
  for (const Node* node : order) finder.look_at(node);
  return finder.all();
}

}  // namespace saltus
