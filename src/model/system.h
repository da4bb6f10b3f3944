#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/id.h"
#include "expr/expr.h"
#include "expr/graph.h"

// The nouns of a hybrid system (HM Definitions 2-6, KM (1)-(4)): variables and parameters shared by
// all modes; modes F(t, x, x') = 0 with guards S > 0; for each guard a successor mode and the
// values the transition sets.
//
//   HybridSystem ball("ball");
//   const Expr h = ball.variable("h", {.start = 1.0, .unit = "m"});
//   const Expr v = ball.variable("v", {.unit = "m/s"});
//   const Expr g = ball.parameter("g", 9.81, {.unit = "m/s2"});
//   Mode& flying = ball.mode("flying");
//   flying.equations = {der(h) == v, der(v) == -g};
//   flying.guards = {{.name = "impact", .value = h, .to = "flying", .set = {{v, -0.7 * v}}}};
//   simulate(ball, {.stop_time = 2.5});

namespace saltus {

struct FlatSystem;  // model/build.h

struct VariableOptions {
  Expr start = 0.0;      // may depend on parameters
  bool fixed = false;    // the start value is a condition, not a guess
  double nominal = 1.0;  // typical magnitude, > 0; scales the absolute tolerance
  std::string unit{};
  std::string description{};
};

struct Variable : VariableOptions {
  std::string name;
  Expr symbol;
};

struct ParameterOptions {
  std::string unit{};
  std::string description{};
};

struct Parameter : ParameterOptions {
  std::string name;
  double value = 0.0;
  Expr symbol;
};

struct DerivedOptions {
  std::string unit{};
  std::string description{};
};

struct Derived : DerivedOptions {
  std::string name;
  Expr value;
};

struct Equation {
  Equation(Equality equality);  // NOLINT(google-explicit-constructor)
  Equation(std::string name, Equality equality);

  std::string name;  // empty: "equation k of mode" is made up when it must be named
  Equality equality;
  SourceLocation where;

  Expr residual() const { return equality.residual(); }
};

// variable := value on the way into the next mode; the value reads left limits. The variable may be
// a slot of the graph: a number that only transitions change (it starts as zero), which equations
// and guards may read.
struct Assignment {
  Expr variable;
  Expr value;
};

// `value` is positive while the mode is valid; where it reaches zero from above the system leaves
// the mode. A guard that depends on time only, affinely, is a time event and is hit exactly.
struct Guard {
  std::string name{};
  Expr value{};
  std::string to{};               // successor mode; empty: the run ends here (terminate)
  std::vector<Assignment> set{};  // the transition function T; what it does not set is carried over
  int priority = 1;               // lower first when several guards fire at one instant
  // Of a flat model: it has no successor, the event iteration decides. At zero after an event it
  // may fire again only once it has left zero on either side.
  bool is_relation = false;
  // Mode in which the run goes on where switches through this guard accumulate (Zeno); empty: the
  // guard becomes a constraint, held by a multiplier in the direction of what `set` does.
  std::string limit{};
};

struct Mode {
  std::string name;
  std::vector<Equation> equations;
  std::vector<Guard> guards;
};

// What the model suggests for a run; the command line and SimulateOptions override it.
struct Experiment {
  double start_time = 0.0;
  double stop_time = 1.0;
  double tolerance = 1e-6;
  std::optional<double> interval;  // of stored points; none: 1/500 of the run; 0: every step
  // What the report draws and moves: lines through points "0,0 rod.x,rod.y ...", where a coordinate
  // is a number or the name of a result.
  std::vector<std::string> drawing{};
};

class HybridSystem {
 public:
  explicit HybridSystem(std::string name);

  // Throw Error if the name is empty or taken, nominal is not positive, or a number is not finite.
  Expr variable(const std::string& name, VariableOptions options = {});
  Expr parameter(const std::string& name, double value, ParameterOptions options = {});
  Mode& mode(const std::string& name);  // a new mode; the first one made is the initial mode
  Expr time() const { return graph_->time(); }

  // Which mode the run starts in. Default: the first.
  std::string initial_mode;
  Experiment experiment;

  const std::string& name() const { return name_; }
  Graph& graph() const { return *graph_; }
  const std::vector<Variable>& variables() const { return variables_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::deque<Mode>& modes() const { return modes_; }
  const Variable& variable(VariableId id) const { return variables_[id.index()]; }

  // Index of the named mode; throws Error that suggests the nearest name.
  ModeId find_mode(const std::string& name) const;

  // Takes a name so that no variable or parameter can have it; throws Error if it is taken.
  void claim_name(const std::string& kind, const std::string& name);

  // A result that is no unknown: an alias, a discrete value, an expression of unknowns. Evaluated
  // only where points are stored.
  void derive(const std::string& name, const Expr& value, DerivedOptions options = {});
  const std::vector<Derived>& derived() const { return derived_; }

  // What build() made of a flat model; null for a system whose modes are listed. A system with one
  // has no modes of its own: they are made when they are visited.
  const std::shared_ptr<const FlatSystem>& flat() const { return flat_; }
  void set_flat(std::shared_ptr<const FlatSystem> flat) { flat_ = std::move(flat); }

  // Changes a parameter or a start value ("g" or "h"); throws Error that suggests the nearest name.
  void set(const std::string& name, double value);

 private:
  std::string name_;
  std::shared_ptr<Graph> graph_;
  std::vector<Variable> variables_;    // by VariableId
  std::vector<Parameter> parameters_;  // by ParameterId
  std::vector<Derived> derived_;
  std::deque<Mode> modes_;  // by ModeId; addresses are stable while a model is written
  std::unordered_set<std::string> names_;
  std::shared_ptr<const FlatSystem> flat_;
};

// Unknowns of a mode: the variables that occur in its equations, in order of declaration.
std::vector<VariableId> unknowns_of(const HybridSystem& system, const Mode& mode);

// "equation 3 of mode flying (der(v) = -g)" or its given name.
std::string equation_name(const Mode& mode, std::size_t index);

// Throws Error for the first defect that needs no numbers: no modes, a mode without equations, an
// unknown successor, a transition that sets something that is not a variable of the successor ...
void validate(const HybridSystem& system);

}  // namespace saltus
