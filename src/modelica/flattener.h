#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "model/flat_model.h"
#include "modelica/connection_graph.h"
#include "modelica/instance_tree.h"
#include "modelica/value.h"

namespace saltus {

class TableData;
struct InputData;
struct Trace;

// Turns one class into a FlatModel. The steps call each other (the size of an array is an
// expression, the value of a parameter comes from a modification, an expression names components),
// so they are one class; each group below is one source file.
class Flattener {
 public:
  // Functions that are run with numbers keep the tree alive.
  Flattener(std::shared_ptr<InstanceTree> tree, FlatModel& flat);
  ~Flattener();

  // Flattens the class into the model given. `settings` and `inputs` are the outermost
  // modifications: of parameters and start values, and of variables that are free without; `data`
  // stand in the place of the expressions of some inputs.
  void run(const ClassDefinition& model, const Modification& settings, const Modification& inputs,
           const std::vector<std::pair<const Argument*, const InputData*>>& data = {});

  // Runs a function along the way that the numbers of `into` take. Throws Error.
  std::vector<Value> trace(Instance& function, const std::vector<NamedValue>& arguments,
                           const Place& place, Trace& into);
  // The results of a function as expressions of its arguments; `is_value`: also if it names its
  // derivative. Throws Error.
  std::vector<Value> results_of(Instance& function, const std::vector<NamedValue>& arguments,
                                const Place& place, bool is_value);

  // Where each variable of the model is declared, by VariableId.
  const std::vector<SourceLocation>& variable_places() const { return variable_places_; }

 private:
  struct EquationSink;

  // --- names: see InstanceTree
  using Found = InstanceTree::Found;
  // An `inner outer` component is found as the inner one further out: that is what its own class
  // means, while its components mean the one declared here (section 5.4).
  Found lookup(const std::string& name, const Scope& scope);
  const TypeRef& type_named(const Name& name, const Scope& scope) {
    return tree_.type_of(tree_.lookup_class(name, scope));
  }

  // --- instantiate.cc: the tree
  void make_root(const ClassDefinition& model);
  void resolve(Instance& instance);
  void make_elements(Instance& instance);
  Instance* find_child(Instance& instance, std::string_view name) {
    return tree_.find_child(instance, name);
  }
  void expand(Instance& instance) { tree_.expand(instance); }
  Instance& child(Instance& instance, const std::string& name, const Place& place);
  bool is_active(Instance& instance);
  const Dimensions& dimensions(Instance& instance);
  Instance* find_inner(const Instance& outer);
  Instance* add_inner(const Instance& outer);
  void instantiate(Instance& instance);  // everything below

  // --- connector_rules.cc
  struct ConnectorCount {
    std::size_t flows = 0;
    std::size_t potentials = 0;
    std::size_t streams = 0;
  };
  std::size_t residue_size(Instance& record);
  void count_connector(Instance& instance, ConnectorCount& count);
  void check_connector(Instance& instance);
  void check_connect_form(const ComponentReference& r, const Scope& scope);

  // --- modifier_check.cc: modifications must reach something
  void check_modifiers(const Instance& instance);
  void check_twice(const Modification& modification);
  void check_replacement(const Instance& instance);
  void check_subscript_types(const Instance& leaf, const ComponentReference::Part& part,
                             const Scope& scope);
  void check_outer_size(Instance& instance);
  void check_modifier(const Instance& instance, const std::string& name, const Place& place);
  std::vector<std::string> child_names(Instance& instance);

  // --- variables.cc: leaves
  const Value& value_of(Instance& leaf);
  bool is_known_before(const Instance& leaf) const;
  void require_known(const Instance& leaf, const Place& place) const;
  Value record_value(Instance& instance);
  Value instance_value(Instance& instance);  // leaf or record, arrays included
  std::optional<Value> binding(Instance& leaf);
  const Layer* binding_layer(const Instance& leaf) const;
  Value layer_value(const Layer& layer);
  std::optional<Value> attribute(Instance& leaf, std::string_view name);
  std::optional<double> number_attribute(Instance& leaf, std::string_view name,
                                         std::size_t element);
  void declare_parameter(Instance& leaf);
  bool follows_found_parameters(const Value& value);
  bool reads_found_parameters(const Expr& value) const;
  Expr guess_of(const Expr& value);
  void declare_variable(Instance& leaf);
  std::optional<Value> string_equation(Instance& leaf);
  void declare_all(Instance& instance);
  bool is_discrete(const Instance& leaf) const;
  void check_type(const Instance& leaf, const Value& value, const Place& place) const;
  void check_attributes(Instance& leaf);
  // --- bounds.cc: min and max
  std::optional<Bounds> bounds_of(Instance& leaf, const std::string& name, std::size_t index);
  void add_bounds(Instance& leaf, const std::string& name, std::size_t index, const Expr& symbol,
                  double nominal, const Expr* start);
  void warn_of_bounds(const Bounds& bounds, const char* what, double value, const Place& place);

  // --- unit_check.cc: warns of units that do not agree
  class UnitCheck;
  void check_units();

  // --- settings.cc: what the command line sets
  void sort_settings(const Modification& settings);
  bool has_settings(const Instance& leaf) const;  // of itself or of an element
  void apply_settings(Instance& leaf, Value& value, bool is_final);
  void check_settings();
  void check_overrides(const char* option, const Modification& overrides);

  // What an iterator is used in; it may give the iterator its range.
  struct IteratorBody {
    const Expression* expression = nullptr;
    const std::vector<EquationClause>* equations = nullptr;
    const std::vector<Statement>* statements = nullptr;
    void for_each(const std::function<void(const Expression&)>& visit) const;
  };

  // --- evaluate.cc: expressions
  Value evaluate(const Expression& expression, const Scope& scope);
  Value evaluate_unary(const UnaryExpression& e, const Scope& scope, const Place& place);
  Value evaluate_binary(const Expression& expression, const BinaryExpression& e,
                        const Scope& scope);
  // What stands after `if` or `while`; throws Error if it is no single Boolean.
  Expr condition_of(const Expression& condition, const Scope& scope, const char* after);
  Value evaluate_if(const IfExpression& e, const Scope& scope, const Place& place);
  Value evaluate_range(const RangeExpression& e, const Scope& scope, const Place& place);
  Value evaluate_matrix(const MatrixConstructor& e, const Scope& scope, const Place& place);
  Value iterate(const ExpressionPtr& body, const std::vector<Iterator>& iterators,
                const Scope& scope, const Place& place);
  std::vector<Value> iteration_values(const Iterator& iterator, const Scope& scope,
                                      const IteratorBody& body);
  // --- implicit_ranges.cc
  Value implicit_range(const Iterator& iterator, const Scope& scope, const IteratorBody& body);
  Value subscript_range(const ComponentReference& array, std::size_t k, const Scope& scope,
                        const Place& place);
  Value compare(BinaryOperator op, const Value& a, const Value& b, const Expression& expression);
  Expr make_relation(const Expr& value, Strict strict, const Expression& expression);
  // Numbers needed at translation; throw Error if the expression depends on variables.
  double constant_number(const Value& value, const Place& place, const char* what);
  long constant_integer(const Expression& expression, const Scope& scope, const char* what);
  std::optional<double> fixed_number(const Expr& expression);  // none: depends on variables
  bool varies_continuously(const Expr& expression);            // depends on variables or time
  // Whether a function of it that jumps, such as integer(), needs an event. At the start time
  // stands still, so what initial equations make of time alone needs none.
  bool jumps_at_events(const Expr& argument);

  // --- reference.cc: a[1].b
  Value reference(const ComponentReference& reference, const Scope& scope, const Place& place);
  Value navigate(Instance& instance, const ComponentReference& reference, std::size_t part,
                 const Scope& scope);
  // The component that part `part` of a name stands for: of an outer one the inner one. From
  // outside an `inner outer` component is the one further out, as it is to its own class.
  Instance& meant_by(Instance& given, std::size_t part);
  Value class_value(ClassElement& cls, const ComponentReference& reference, std::size_t part,
                    const Scope& scope);
  struct Subscripts {
    std::vector<std::vector<std::size_t>> chosen;  // from 0, for each dimension given
    std::vector<bool> scalar;                      // the dimension disappears
    std::vector<std::optional<Expr>> symbolic;     // where not known at translation
    bool has_symbolic = false;
    Dimensions shape() const;
    std::vector<std::size_t> flat(const Dimensions& dimensions) const;
  };
  Subscripts subscripts(const std::vector<ExpressionPtr>& expressions, const Dimensions& dimensions,
                        const Scope& scope, const std::string& name, const Place& place);
  // The part of an array from subscript k on, where some are not known at translation.
  Value chosen_part(const Value& value, const Subscripts& s, std::size_t k, const Place& place);
  Value subscripted(const Value& value, const std::vector<ExpressionPtr>& expressions,
                    const Scope& scope, const std::string& name, const Place& place);
  struct InstancePart {  // a component, or elements of an array of variables
    Instance* instance = nullptr;
    std::vector<std::size_t> elements;  // flat; of leaves
    bool outside = false;
  };
  struct InstanceRange {
    std::vector<InstancePart> parts;
    Dimensions dimensions;
    bool dropped = false;  // leads to a component whose condition is false
  };
  InstanceRange instances_of(const ComponentReference& reference, const Scope& scope);
  void gather_instances(Instance& instance, const ComponentReference& reference, std::size_t part,
                        const Scope& scope, InstanceRange& out);

  // --- builtins.cc, call.cc, natives.cc: functions
  Value call(const Expression& expression, const CallExpression& e, const Scope& scope);
  std::vector<Value> call_results(const Expression& expression, const CallExpression& e,
                                  const Scope& scope);
  std::optional<Value> call_builtin(const std::string& name, const Expression& expression,
                                    const CallExpression& e, const Scope& scope);
  std::optional<Value> call_event_builtin(const std::string& name, const Expression& expression,
                                          const CallExpression& e, const Scope& scope);
  std::optional<Value> call_array_builtin(const std::string& name, const Expression& expression,
                                          const CallExpression& e, const Scope& scope);
  std::optional<Value> call_text_builtin(const std::string& name, const Expression& expression,
                                         const CallExpression& e, const Scope& scope);
  Expr rounded(const Expr& value, const Expression& expression);  // floor with events
  Value delayed_value(const CallExpression& e, const Scope& scope, const Place& place);
  Value pre_of(const Value& value, const Place& place);
  Value derivative_of(const Value& value, const Place& place);
  std::vector<Value> call_function(Instance& function, const std::vector<NamedValue>& arguments,
                                   const Place& place);
  std::vector<Value> run_inlined(Instance& function, const std::vector<NamedValue>& arguments,
                                 const Place& place);
  std::vector<Value> call_vectorized(Instance& function, const std::vector<NamedValue>& arguments,
                                     const Place& place);
  std::optional<std::vector<Value>> call_native(Instance& function,
                                                const std::vector<NamedValue>& arguments,
                                                const Place& place);
  std::optional<Value> interpolate_vector(const std::vector<NamedValue>& arguments,
                                          const Place& place);
  std::vector<std::string> lines_of(const std::string& file, const Place& place);
  void check_may_read(const std::string& file, const Place& place) const;
  std::string resource_path(const std::string& uri, const Place& place);
  std::optional<Value> call_table(const std::string& name, const std::vector<NamedValue>& arguments,
                                  const Place& place);
  // A record, a function: the class instance.
  Value construct_record(Instance& record, const CallExpression& e, const Scope& scope,
                         const Place& place);
  std::vector<NamedValue> bind_arguments(Instance& function, const CallExpression& e,
                                         const Scope& scope, const Place& place);
  std::string message_text(const Expression& expression, const Scope& scope);
  // --- changing_texts.cc: Strings that change
  std::size_t text_number(const std::string& text);
  std::string changing_text(const Expr& number);
  std::optional<std::size_t> text_slot(const std::string& text) const;
  Expr number_of_text(const std::string& text, const Place& place);
  Expr same_text(const std::string& a, const std::string& b, const Place& place);
  std::string joined_text(const Expr& condition, const std::string& a, const std::string& b,
                          const Place& place);
  std::string text_before(const std::string& text, const Place& place);
  // The numbers of its texts, and of those in its records, beside them.
  Value with_text_numbers(Value value, const Place& place);
  Value declare_changing_text(Instance& leaf);
  void name_changing_texts();
  // a where the condition holds, b elsewhere, element by element.
  Value join_values(const Expr& condition, const Value& a, const Value& b, const Place& place);

  // A text whose value is filled in when it is said; the same for the same call and value.
  std::string text_later(const Expression& call, const Expr& value,
                         std::function<std::string(double)> text);
  // The text with what it will be filled with shown as written.
  std::string as_written(const std::string& text) const;
  void add_printing(const std::string& text, const std::string& file, const Place& place);

  // --- overloads.cc: operators of operator records
  // Calls the operator `name`, quotes included, of the records among the operands.
  Value overloaded(const std::string& name, const std::vector<Value>& operands, const Place& place);
  std::optional<Value> try_overload(const std::string& name, const std::vector<Value>& operands,
                                    const Place& place);
  Value overloaded_elements(const std::string& name, const Value& a, const Value& b,
                            const Place& place);
  Value overloaded_product(const Value& a, const Value& b, const Place& place);
  // Functions of an operator: one, or those inside of it.
  std::vector<Instance*> operator_functions(const ClassDefinition& record, const std::string& name);
  // A number where a record is wanted that can be made of it.
  Value converted(const Value& value, const ClassInfo& wanted, const Place& place);
  std::optional<Value> overloaded_constructor(Instance& record, const CallExpression& e,
                                              const Scope& scope, const Place& place);

  // --- statements.cc: symbolic execution
  struct Frame;
  enum class Flow { kNext, kBreak, kReturn };
  std::vector<Value> run_function(Instance& function, const std::vector<NamedValue>& arguments,
                                  const Place& place);
  std::vector<Value> explore(Instance& function, const std::vector<NamedValue>& arguments,
                             const std::vector<bool>& prefix, const Place& place, int& leaves);
  Flow execute(const std::vector<Statement>& statements, Frame& frame);
  Flow execute(const Statement& statement, Frame& frame);
  Flow execute_if(const IfStatement& s, Frame& frame, const Place& place);
  Flow execute_merged(const std::vector<Branch<Statement>>& branches, std::size_t first,
                      Frame& frame);
  Flow execute_for(const std::vector<Iterator>& iterators, std::size_t k,
                   const std::vector<Statement>& body, Frame& frame);
  Flow execute_while(const WhileStatement& s, Frame& frame, const Place& place);
  Flow execute_when(const WhenStatement& s, Frame& frame, const Place& place);
  void assign(const ComponentReference& target, const Value& value, Frame& frame,
              const Place& place);
  Value declared_value(Instance& function, const ClassInfo::Element& element, Locals& locals,
                       const Place& place);
  void assign_into(Value& at, const ComponentReference& target, std::size_t part,
                   const Value& value, Frame& frame, const Place& place);
  static void assign_anywhere(Value& at, const Subscripts& s, std::size_t rest, const Value& value,
                              const std::string& name, const Place& place);
  void execute_call(const Expression& expression, Frame& frame);
  void check_in_function(const CallExpression& call, const Expression& expression, Frame& frame);
  static void note_failure(Frame& frame, const Expr& where, const std::string& message);
  bool decide(const Expr& condition, Frame& frame, const Place& place);

  // --- records.cc: values of variables that live in a function only
  // The modifications of an element of a function or record whose other elements are `locals`.
  Layers local_layers(Instance& holder, const ClassInfo::Element& element, const Locals& locals);
  // A record of given fields and, for the others, what `outer` or the declarations say; without
  // that they have no value if `may_lack` says so.
  Value make_record(Instance& record, const std::vector<NamedValue>& given, const Layers& outer,
                    bool may_lack, const Place& place);
  Value blank_value(ClassElement& type, const Layers& layers, const Dimensions& size,
                    const Place& place);

  // --- traced.cc: functions that are run with numbers; none if that fails as well
  std::optional<std::vector<Value>> call_traced(Instance& function,
                                                const std::vector<NamedValue>& arguments,
                                                const Place& place);

  // --- derivative_function.cc: functions that name their derivative
  std::optional<std::vector<Value>> call_with_derivative(Instance& function,
                                                         const std::vector<NamedValue>& arguments,
                                                         const Place& place);
  std::vector<std::string> input_names(Instance& function, bool only_real);
  // Of an element of a function: by its own prefix or by that of its type.
  Causality causality_in(Instance& function, const ClassInfo::Element& element);

  // --- inverse_function.cc: functions that name their inverse
  struct Inverse {
    std::string input;
    std::string output;
    const Expression* value = nullptr;
  };
  const std::vector<Inverse>& inverses_of(Instance& function);
  void note_call(Instance& function, const std::vector<NamedValue>& arguments,
                 const std::vector<Value>& results);
  // The last equation of the sink is given = result.
  void note_solved(const Expr& result, const Expr& given, EquationSink& sink);

  // --- algorithms.cc
  void flatten_algorithm(const std::vector<Statement>& statements, const Scope& scope,
                         EquationSink& sink);

  // --- equations.cc
  struct DiscreteCandidate {
    Expr left;
    Expr right;
    SourceLocation where;
    std::string name;
    bool is_field = false;  // of an equation between records
  };
  struct EquationSink {
    std::vector<EquationItem>* items = nullptr;
    std::vector<DiscreteCandidate>* discrete = nullptr;
    bool initial = false;
    Expr active = 1.0;  // what must hold for these equations to count
    bool conditional = false;
    std::vector<SolvedEquation>* solved = nullptr;  // null: not wanted here
  };
  void for_each_class_instance(Instance& instance, const std::function<void(Instance&)>& visit);
  void flatten_equations(Instance& instance);
  void flatten_binding(Instance& leaf, EquationSink& sink);
  Value measured_value(const Instance& leaf, const InputData& data);
  void translate(const std::vector<EquationClause>& equations, const Scope& scope,
                 EquationSink& sink);
  void translate(const EquationClause& equation, const Scope& scope, EquationSink& sink);
  void translate_simple(const SimpleEquation& e, const EquationClause& equation, const Scope& scope,
                        EquationSink& sink);
  void translate_if(const ConditionalEquation& e, const EquationClause& equation,
                    const Scope& scope, EquationSink& sink);
  void join_discrete(const std::vector<Expr>& conditions,
                     const std::vector<std::vector<DiscreteCandidate>>& branches,
                     const Place& place, EquationSink& sink);
  void translate_call(const CallExpression& call, const Expression& expression, const Scope& scope,
                      EquationSink& sink);
  void add_equality(const Value& left, const Value& right, const std::string& name,
                    const Place& place, EquationSink& sink, bool is_field = false);
  void for_each_iteration(const ForEquation& loop, const Scope& scope,
                          const std::function<void(const Scope&)>& body);
  std::string equation_label(const Scope& scope, const EquationClause& equation) const;
  void add_termination(const CallExpression& call, const Place& place, const Scope& scope,
                       const Expr& active);
  static void check_assertion(const CallExpression& call, const Place& place);
  void add_assertion(const CallExpression& call, const Expression& expression, const Scope& scope,
                     const Expr& active);
  // What must hold from now on, or in the round a 'when' acts.
  void add_condition(Expr condition, const std::string& message, bool is_warning,
                     const Place& place);
  // A call for the sake of its assertions, which count where `active` holds.
  void call_as_statement(const Expression& expression, const CallExpression& call,
                         const Scope& scope, const Expr& active);
  bool is_warning_level(const CallExpression& assertion, const Scope& scope);
  void add_reinit(const CallExpression& call, const Expression& expression, const Scope& scope,
                  const Expr& active);

  // --- when.cc
  Expr when_condition(const Expression& condition, const Scope& scope);
  void translate_when(const WhenEquation& e, const EquationClause& equation, const Scope& scope,
                      EquationSink& sink);
  struct WhenBody;
  void translate_when_body(const std::vector<EquationClause>& equations, const Scope& scope,
                           WhenBody& body);
  void mark_when_targets(Instance& instance);
  void mark_when_targets(const std::vector<EquationClause>& equations, const Scope& scope,
                         bool in_when);
  void mark_when_targets(const std::vector<Statement>& statements, const Scope& scope,
                         bool in_when);
  void mark_target(const ComponentReference& target, const Scope& scope);

  // --- clocks.cc, clocked_equations.cc: the synchronous language
  struct Clocks;
  class ClockedPart;
  Expr new_clock(const std::string& name);
  Value construct_clock(const CallExpression& e, const Scope& scope, const Place& place);
  std::optional<Value> call_clock_builtin(const std::string& name, const CallExpression& e,
                                          const Scope& scope, const Place& place);
  void translate_clocked_when(const Expr& clock, const std::vector<EquationClause>& equations,
                              const Scope& scope, EquationSink& sink);
  void solve_clocks();

  // --- discrete.cc: which equation gives which discrete variable
  void assign_discrete();

  // --- following.cc
  void follow_at_any_time(std::vector<Expr> symbols, std::vector<Expr> values);

  // discrete_loops.cc
  std::unordered_map<const Node*, std::size_t> real_discrete_equations() const;
  void solve_discrete_loops();
  bool eliminate_linear_loop(const std::vector<std::size_t>& loop);
  void embed(const std::vector<std::size_t>& loop);
  void embed_sampled_loops();
  void move_initial_values();
  Expr pre_slot(const Expr& symbol);
  bool is_discrete_symbol(const Expr& symbol) const;

  // --- state_machines.cc
  struct Machine;
  void collect_machines(Instance& owner);
  void declare_machine(Machine& machine);
  struct Leaving;
  void add_machine_equations();
  void add_equations_of(Machine& machine);
  Leaving find_leaving(Machine& machine, std::size_t state);
  Expr inner_machines_are_final(const Instance& state);
  // --- machine_entry.cc: values on entry of a state
  void add_entry_values(const Machine& machine);
  void note_initial_equations(const Instance& instance, const std::vector<EquationItem>& initial);
  void note_entry_value(const Instance& instance, const Expr& given, const Expr& value);
  Expr activity(const Instance& instance);
  Expr hidden_discrete(const std::string& name, DiscreteOptions options);
  Value active_state(const CallExpression& call, const Scope& scope, const Place& place);
  Value time_in_state(const Scope& scope, const Place& place);
  static void add_items(const Expr& active, std::vector<EquationItem> items,
                        std::vector<EquationItem>& out, const Place& place);

  // --- connections.cc
  struct ConnectionNode {
    Instance* leaf = nullptr;
    std::size_t element = 0;
    bool outside = false;
    int parent = -1;
    Place place;
  };
  void connect(const ConnectEquation& e, const Scope& scope, const Place& place);
  void connect_instances(const InstancePart& a, const InstancePart& b, const Place& place);
  // --- expandable.cc
  void expand_connectors();
  void expand_connection(const ConnectEquation& e, const Scope& scope);
  void merge_connectors(Instance& x, Instance& y, const Scope& scope);
  void note_present(Instance& instance);
  Instance* lacking(const ComponentReference& r, const Scope& scope);
  void add_element(Instance& bus, const ComponentReference::Part& part, const Instance& like,
                   const Dimensions& size, const Scope& scope);
  // --- streams.cc
  Instance& flow_beside(Instance& stream);
  Expr mixed_stream(const std::vector<std::size_t>& members, std::size_t without);
  Expr in_stream(Instance& leaf, std::size_t element);
  void add_streams(const std::vector<std::size_t>& members);
  Value stream_value(const std::string& name, const Expression& expression, const CallExpression& e,
                     const Scope& scope);
  // --- overconstrained.cc: Connections.root() and its relatives
  bool is_overdetermined(const Instance& instance);
  Instance& overdetermined_argument(const CallExpression& call, std::size_t k, const Scope& scope,
                                    const Place& place);
  void note_connections_call(const CallExpression& call, const Scope& scope, const Place& place);
  std::optional<Value> call_graph_builtin(const std::string& name, const CallExpression& e,
                                          const Scope& scope, const Place& place);
  void add_overdetermined_connections();
  void connect_leaves(Instance& a, const std::vector<std::size_t>& a_elements, bool a_outside,
                      Instance& b, const std::vector<std::size_t>& b_elements, bool b_outside,
                      const Place& place);
  void connect_parameters(Instance& a, const std::vector<std::size_t>& a_elements, Instance& b,
                          const std::vector<std::size_t>& b_elements, const Place& place);
  void check_sources(const std::vector<std::size_t>& members);
  void add_connection_equations();
  void add_unconnected_flows(Instance& instance, bool in_connector);
  int connection_node(Instance& leaf, std::size_t element, bool outside, const Place& place);
  int connection_root(int node);
  bool has_connection_node(const Instance& leaf, std::size_t element, bool outside) const;

  void add_potentials(const std::vector<std::size_t>& members);
  void add_flows(const std::vector<std::size_t>& members);
  Value connection_symbol(const ConnectionNode& node);

  // --- flattener.cc
  // Runs a part of the translation; what is wrong with it is kept and the next part goes on.
  void attempt(const std::function<void()>& part);
  void throw_errors() const;
  // Imports of the classes that the model is made of and of those around them, used or not.
  void check_imports();
  void find_known_discretes(Instance& instance);
  void read_experiment(const ClassDefinition& model);
  void read_drawing(const ClassDefinition& model);

  [[noreturn]] static void refuse(const std::string& what, const Place& place);

  std::shared_ptr<InstanceTree> owned_tree_;
  InstanceTree& tree_;
  Library& library_;
  FlatModel& flat_;
  Instance* root_ = nullptr;                             // the model; null: only functions are run
  std::unordered_map<std::string, Value> layer_values_;  // of modifications with subscripts
  std::unordered_map<const Node*, double> fixed_numbers_;
  std::unordered_map<const Node*, bool> varies_;
  std::unordered_map<const Node*, Expr> pre_slots_;  // by symbol
  std::unordered_map<const Node*, std::size_t> discrete_numbers_;
  std::unordered_set<const Node*> when_assigned_;
  // Functions that have too many ways to be written as expressions: they are run with numbers.
  std::unordered_set<const Instance*> many_ways_;
  std::size_t work_on_ways_ = 0;  // statements after a choice, within one call from outside
  std::unordered_set<const Node*> found_parameters_;  // unknowns: by the initial equations
  std::vector<DiscreteCandidate> discrete_candidates_;
  bool variables_allowed_ = false;                       // once parameters are known
  int measuring_ = 0;                                    // only the size of a value is asked for
  std::unordered_map<const Instance*, Value> measured_;  // what stands for variables meanwhile
  std::string component_;  // whose relation is being made; empty: the model's own
  int no_event_ = 0;       // inside noEvent, functions
  int in_initial_ = 0;     // inside initial equations and algorithms
  int located_ = 0;        // depth of no_event_ at which relations are located all the same
  int in_function_ = 0;
  const Frame* frame_ = nullptr;  // whose statement is being run; null: none
  // Of the function called last: where an assertion in it fails, and what it says.
  Expr failed_ = 0.0;
  std::string failure_;
  int in_when_ = 0;
  int in_message_ = 0;  // a text is being made that may say what varies
  std::map<std::pair<const Expression*, const Node*>, std::size_t> texts_later_;
  // By the place among the texts to be filled in: what String() was called with.
  std::unordered_map<std::size_t, std::pair<BasicType, const ClassDefinition*>> text_types_;
  std::shared_ptr<std::vector<std::string>> changing_texts_;   // null: no String changes
  std::unordered_map<std::string, std::size_t> text_numbers_;  // from 1
  std::unordered_map<const Node*, std::size_t> changing_text_slots_;
  std::vector<std::size_t> changing_discretes_;
  bool past_shadows_ = false;
  bool in_reinit_ = false;         // its value reads left limits already
  bool only_connections_ = false;  // the pass that collects connect()
  bool expanding_ = false;         // the pass that finds elements of expandable connectors
  bool grown_ = false;             // it has found one
  std::unordered_set<const Instance*> present_;  // elements that something is connected to
  std::unordered_set<const Instance*> added_;    // elements that are declared nowhere
  std::deque<Component> synthetic_;              // their declarations
  int rounded_ = 0;
  std::vector<const Instance*> call_stack_;
  std::vector<std::size_t> end_values_;  // of `end` inside subscripts
  std::unordered_map<std::shared_ptr<const ExternalObject>, std::unique_ptr<TableData>> tables_;

  std::vector<ConnectionNode> connection_nodes_;
  std::unordered_map<int, std::vector<std::size_t>> stream_sets_;  // by root, once asked for
  struct RecordConnection {                                        // of overdetermined records
    InstancePart a;
    InstancePart b;
    Place place;
  };
  std::vector<RecordConnection> record_connections_;  // by number in the graph
  ConnectionGraph connection_graph_;
  std::unordered_map<const Instance*, std::vector<int>> connection_index_;  // element, side
  std::unordered_set<const Expression*> checked_attributes_;
  Modification settings_;  // without those of elements
  struct ElementSetting {
    std::string name;  // as given
    ExpressionPtr value;
    bool used = false;
  };
  std::unordered_map<std::string, ElementSetting> element_settings_;  // by name of the element
  std::unordered_set<const Modification*> checked_modifications_;
  std::unordered_set<const Argument*> overrides_;  // settings and inputs
  std::unordered_set<const Argument*> inputs_;
  std::unordered_map<const Argument*, const InputData*> input_data_;
  std::unordered_map<const Node*, Expr> edges_;
  std::unordered_map<const Instance*, std::vector<Inverse>> inverses_;
  struct NotedCall {
    Instance* function = nullptr;
    std::vector<NamedValue> arguments;
  };
  std::unordered_map<const Node*, NotedCall> calls_with_inverse_;  // by result
  std::unordered_map<const Instance*, Value> known_discretes_;     // they depend on parameters only

  std::unique_ptr<Clocks> clocks_;  // null: the model has none
  struct State {
    Machine* machine = nullptr;
    std::size_t number = 0;
  };
  std::vector<std::unique_ptr<Machine>> machines_;
  std::unordered_map<const Instance*, State> states_;
  const Machine* machine_in_use_ = nullptr;
  // Of a state: what its initial equations, and those of its parts, give.
  std::unordered_map<const Instance*, std::vector<std::pair<Expr, Expr>>> entry_values_;
  std::unordered_map<std::string, Expr> variables_by_name_;
  std::unordered_map<const Instance*, int> cardinality_;
  std::vector<SourceLocation> variable_places_;
  std::vector<Error> errors_;
  Trace* trace_ = nullptr;  // of the function being run with numbers
};

}  // namespace saltus
