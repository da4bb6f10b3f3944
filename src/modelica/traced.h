#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "expr/function.h"
#include "expr/tape.h"
#include "modelica/flattener.h"

namespace saltus {

// One way through a function: what was decided on it, and the results as expressions of the inputs.
struct Trace {
  std::vector<double> point;                      // of the inputs; by VariableId of the host
  std::vector<Expr> decided;                      // expressions whose value chose the way
  std::vector<double> values;                     // of those, on this way
  std::vector<Expr> results;                      // numbers of all outputs, in order
  std::unordered_map<const Node*, double> known;  // values at the point
  // Choices whose branches cannot be joined; kept from way to way.
  std::unordered_set<const IfStatement*>* apart = nullptr;

  double at_point(const Expr& expression);
  void note(const Expr& expression, double value);
};

// A function of the model that cannot be written as one expression: its loops or branches depend on
// arguments that vary. It is run with symbols along the way that numbers take; a way that was taken
// before is not run again, and its expressions are differentiated as often as needed.
class TracedFunction : public std::enable_shared_from_this<TracedFunction> {
 public:
  // `arguments` with numbers where they do not vary; `inputs` are the others, in order.
  TracedFunction(std::shared_ptr<InstanceTree> tree, Instance& function,
                 std::vector<NamedValue> arguments, std::size_t inputs, Place place);

  // Symbols that stand for the inputs in the arguments.
  const std::vector<Expr>& symbols() const { return symbols_; }
  void set_arguments(std::vector<NamedValue> arguments) { arguments_ = std::move(arguments); }

  // Runs the function at a point. Throws Error if it cannot be run.
  std::vector<Value> run(const std::vector<double>& point);

  // Number `output` of the results, differentiated by these inputs, as a function of the inputs.
  std::shared_ptr<const Function> output(std::size_t output, const std::vector<std::size_t>& by);

 private:
  struct Compiled {
    Tape tape;
    Tape::Workspace registers;
    std::vector<double> values;
  };
  // All that has been asked for is computed together: outputs and derivatives have most in common.
  struct Way {
    Trace trace;
    Compiled decided;
    std::map<std::pair<std::size_t, std::vector<std::size_t>>, std::size_t> places;
    std::vector<Expr> wanted;  // by place
    Compiled results;
  };
  // What is known of a point; one after the other, all outputs are asked for there.
  struct Known {
    std::vector<double> point;
    Way* way = nullptr;          // null: the function cannot be run there
    std::vector<double> values;  // by place, as far as there were some
    // Rounding decides: compiled formulas would decide otherwise, so they are not asked.
    bool is_doubtful = false;
  };
  Known& known_at(const double* inputs);
  Compiled compile(const std::vector<Expr>& expressions) const;
  static void evaluate(Compiled& compiled, const double* inputs);
  static bool agrees(Way& way, const double* inputs);
  void find_way(Known& at);
  double value(const double* inputs, std::size_t output, const std::vector<std::size_t>& by);

  std::shared_ptr<InstanceTree> tree_;
  Instance& function_;
  FlatModel scratch_;
  Flattener host_;
  Place place_;
  std::vector<Expr> symbols_;
  std::vector<NamedValue> arguments_;
  std::size_t result_count_ = 0;
  std::unordered_set<const IfStatement*> apart_;
  std::deque<std::unique_ptr<Way>> ways_;  // the last used first
  std::array<Known, 4> known_;             // as many as are computed side by side
  std::size_t oldest_known_ = 0;
  std::mutex mutex_;
};

}  // namespace saltus
