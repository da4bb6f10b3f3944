#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "model/delay_line.h"
#include "model/system.h"

// A model as text leaves it: scalar variables, equations that may be conditional, discrete
// variables, and what happens at events. Its modes are not listed: a mode is the set of equations
// that the conditions of the moment put in force, made when it is first visited.
//
// Everything that is frozen between events is a *slot* of the expression graph: the values of
// relations, discrete variables, their pre() values, initial(), sample(). Conditions are Boolean
// expressions over slots, so an equation with `select(condition, a, b)` is smooth between events.
//
//   FlatModel clutch("clutch");
//   const Expr w1 = clutch.system.variable("w1", {.start = 10.0, .fixed = true});
//   ...
//   const Expr slipping = clutch.relation(w1 - w2, Strict::kYes);  // w1 > w2
//   clutch.equations = {Equation(J1 * der(w1) == -tau), ...,
//                       IfEquation{{locked}, {{Equation(w1 == w2)}, {Equation(tau == c * w1)}}}};

namespace saltus {

// How the numbers of a discrete variable are read and printed.
enum class DiscreteType { kReal, kInteger, kBoolean, kEnumeration };

struct DiscreteOptions {
  DiscreteType type = DiscreteType::kBoolean;
  Expr start = 0.0;    // of pre(); may depend on parameters
  bool fixed = false;  // pre() has the start value when the initial problem is solved
  std::string unit{};
  std::string description{};
  std::vector<std::string> literals{};  // of an enumeration, numbered from 1
  bool names_mode = false;              // __Saltus(modeName=true): its value is the mode's name
  bool is_edge = false;                 // made by edge(): nothing is an edge at the start
  Expr exists = 1.0;                    // while it does; of a state machine: its state is active
  SourceLocation where{};
};

struct DiscreteVariable : DiscreteOptions {
  std::string name;
  Expr symbol;  // slot: the present value
  Expr pre;     // slot: the value before the event iteration
};

enum class Strict { kNo, kYes };

// value > 0 (strict) or value >= 0. Relations whose values are equal up to sign share one slot.
struct Relation {
  Expr slot;
  Expr value;
  Strict strict = Strict::kYes;
  std::string text;  // as written, for event logs
  SourceLocation where;
  // Leads out of a state: at zero when the state is entered, it takes the value it has just after.
  bool leaves_state = false;
};

struct EquationItem;

// Branch k holds while conditions[k] is the first that is true; the last branch, one more than
// there are conditions, is `else` and may be empty. Branches may differ in number and kind of
// equations.
struct IfEquation {
  std::vector<Expr> conditions;
  std::vector<std::vector<EquationItem>> branches;
  SourceLocation where{};
};

struct EquationItem {
  EquationItem(Equation e) : value(std::move(e)) {}    // NOLINT(google-explicit-constructor)
  EquationItem(IfEquation e) : value(std::move(e)) {}  // NOLINT(google-explicit-constructor)
  std::variant<Equation, IfEquation> value;
};

// target := value in every round of an event iteration. Order does not matter: they are sorted by
// what they read; a target that occurs in its own value goes through pre().
struct DiscreteEquation {
  Expr target;  // symbol of a discrete variable
  Expr value;
  SourceLocation where{};
};

// How a value reaches a variable at an event.
enum class Handover {
  kReset,  // reinit(): in the mode of this hop, kept exactly
  kSet,    // on entry of a state, in the mode of the next hop, kept exactly
  kCarry,  // the same, but the impulse rule applies to it: the left limit of its namesake
  kStart,  // as kCarry, but there is no namesake: the start value
};

// While `condition` is true in an event iteration (an edge: it falls with the next pre() update),
// variable := value once. The value reads left limits. Of several for one variable the last counts.
// What is handed over on entry may be a discrete variable: then its pre() has the value, too.
struct Reinit {
  Expr condition;
  Expr variable;
  Expr value;
  SourceLocation where{};
  Handover handover = Handover::kReset;
};

// A state machine, by symbols of its discrete variables.
struct MachineSymbols {
  Expr active;  // the state
  Expr fired;   // a transition is taken: the next round of the event iteration is in its target
  Expr tie;     // several transitions of one priority could have been taken
};

// True only at the instants start + k * interval, which are hit exactly.
struct Sample {
  Expr slot;
  Expr start;     // may depend on parameters
  Expr interval;  // > 0
  SourceLocation where{};
  // Of a delay: true at the arrivals of its breaks instead.
  std::shared_ptr<DelayLine> line{};
};

// Frozen when an event begins: the value of an expression just before it.
struct LeftLimit {
  Expr slot;
  Expr value;
};

// Checked at events and at accepted points: the run ends with the message (or it becomes a warning)
// when the condition is false. Relations that are slots are located, plain ones only looked at.
struct Assertion {
  Expr condition;
  std::string message;
  bool is_warning = false;
  SourceLocation where{};
};

// The run ends well when the condition becomes true in an event iteration.
struct Termination {
  Expr condition;
  std::string message;
  SourceLocation where{};
};

// Another way to write an equation y = f(x), known from the function: x = g(y). Used where y is
// known and x is not.
struct SolvedEquation {
  std::size_t equation = 0;
  Expr variable;
  Expr value;
};

// A call of semiLinear: is_positive ? x * above : x * below.
struct SemiLinear {
  Expr value;
  Expr is_positive;  // x >= 0
  Expr x;
  Expr above;
  Expr below;
};

// A value in a message, made when it is said. Texts hold its number, marked (base/placeholder.h).
struct TextValue {
  Expr value;
  std::function<std::string(double)> text;
};

// Printed whenever `count`, a discrete variable, has changed; once, at the start, if it is a
// number.
struct Printing {
  Expr count;
  Expr reached;  // what must hold
  std::string text;
  std::string file;  // empty: standard output
  SourceLocation where{};
};

// What the model says a variable stays within; leaving it is worth a warning.
struct Bounds {
  std::string name;
  Expr value;
  double least;
  double most;
  double nominal;
  SourceLocation where{};
};

struct FlatModel {
  explicit FlatModel(std::string name) : system(std::move(name)) {}

  // Variables (continuous unknowns), parameters, derived results and the experiment. No modes.
  HybridSystem system;

  std::vector<DiscreteVariable> discretes;
  std::vector<Relation> relations;
  std::vector<Sample> samples;
  std::vector<Delay> delays;
  std::vector<LeftLimit> left_limits;
  std::vector<EquationItem> equations;
  std::vector<SolvedEquation> solved_equations;
  std::vector<SemiLinear> semi_linears;
  std::vector<DiscreteEquation> discrete_equations;
  std::vector<Reinit> reinits;
  std::vector<MachineSymbols> machines;
  std::vector<Assertion> assertions;
  std::vector<Termination> terminations;
  std::vector<TextValue> text_values;
  std::vector<Printing> printings;
  std::vector<Bounds> bounds;
  // Hold, besides the equations, while initial() is true. May read der(), slots and pre() slots.
  std::vector<EquationItem> initial_equations;
  // Values of discrete variables (or of their pre()) before the first event iteration.
  std::vector<DiscreteEquation> initial_discrete;
  std::vector<std::string> warnings;            // of translation
  std::vector<SourceLocation> variable_places;  // by variable; may be shorter

  // A new discrete variable; returns its present value. Throws Error if the name is taken.
  Expr discrete(const std::string& name, DiscreteOptions options = {});
  // Marks the relation whose slot, or its negation, was given by relation().
  void leaves_state(const Expr& relation);
  // Its value before the event iteration. Pre: `symbol` came from discrete().
  Expr pre(const Expr& symbol) const;
  // value > 0 or value >= 0, frozen between events: a slot, or the negation of one that exists.
  Expr relation(const Expr& value, Strict strict, std::string text = {}, SourceLocation where = {});
  Expr sample(const Expr& start, const Expr& interval, SourceLocation where = {});
  // The value `duration` > 0 ago (of parameters); before that, the value at the start.
  Expr delay(const Expr& value, const Expr& duration, SourceLocation where = {});
  // The value just before the event that is being settled; at the start, that of the initial
  // problem.
  Expr left_limit(const Expr& value);
  // True while the initial problem is solved.
  Expr initial();
  // True in the event iteration that ends a run which reached its stop time.
  Expr terminal();
  bool has_terminal() const { return terminal_.is_slot(); }
  // True in the rounds of an event iteration in which the condition has just become true; makes a
  // hidden discrete variable that remembers the condition.
  Expr edge(const Expr& condition);

 private:
  Expr initial_;   // slot, made on first use; the number 0 until then
  Expr terminal_;  // likewise
};

}  // namespace saltus
