#include "modelica/flattener.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/error.h"
#include "modelica/clocks.h"
#include "modelica/machine.h"
#include "modelica/tables.h"

namespace saltus {

Flattener::Flattener(std::shared_ptr<InstanceTree> tree, FlatModel& flat)
    : owned_tree_(std::move(tree)), tree_(*owned_tree_), library_(tree_.library()), flat_(flat) {}

Flattener::~Flattener() = default;

void Flattener::run(const ClassDefinition& model, const Modification& settings,
                    const Modification& inputs,
                    const std::vector<std::pair<const Argument*, const InputData*>>& data) {
  input_data_.insert(data.begin(), data.end());
  for (const Argument& argument : inputs.arguments) inputs_.insert(&argument);
  sort_settings(settings);
  make_root(model);
  Layers outermost;
  for (const Modification* m : {static_cast<const Modification*>(&settings_), &inputs}) {
    for (const Argument& argument : m->arguments) overrides_.insert(&argument);
    append_layers(m, {root_, &root_->definition(), nullptr}, outermost);
  }
  root_->layers.insert(root_->layers.begin(), outermost.begin(), outermost.end());
  instantiate(*root_);
  expand_connectors();
  check_overrides("--set", settings_);
  check_overrides("--input", inputs);
  for_each_class_instance(*root_, [&](Instance& i) { mark_when_targets(i); });
  // Parameters first: nothing they need may depend on variables.
  const std::function<void(Instance&)> parameters = [&](Instance& i) {
    for (const auto& c : i.children)
      if (is_active(*c) && c->target == nullptr && c->is_leaf() &&
          c->variability >= Variability::kParameter)
        declare_all(*c);
  };
  read_experiment(model);
  for_each_class_instance(*root_, parameters);
  for_each_class_instance(*root_, [&](Instance& i) { find_known_discretes(i); });
  variables_allowed_ = true;
  declare_all(*root_);
  check_settings();
  for_each_class_instance(*root_, [&](Instance& i) { collect_machines(i); });
  if (!machines_.empty())
    for (const Variable& v : flat_.system.variables()) variables_by_name_[v.name] = v.symbol;
  check_imports();
  EquationSink none;
  only_connections_ = true;
  for_each_class_instance(*root_, [&](Instance& i) {
    for (const ClassInfo::Base& base : i.type.info->bases)
      for (const EquationClause& e : base.definition->equations)
        attempt([&] { translate(e, {&i, base.definition, nullptr}, none); });
  });
  only_connections_ = false;
  throw_errors();
  add_overdetermined_connections();
  for_each_class_instance(*root_, [&](Instance& i) { flatten_equations(i); });
  throw_errors();
  add_connection_equations();
  add_unconnected_flows(*root_, false);
  add_machine_equations();
  solve_clocks();
  assign_discrete();
  name_changing_texts();
  check_units();
  // Functions of the model are run later; what was set from outside does not live that long.
  root_->layers.erase(root_->layers.begin(),
                      root_->layers.begin() + static_cast<std::ptrdiff_t>(outermost.size()));
}

void Flattener::attempt(const std::function<void()>& part) {
  constexpr std::size_t kMostErrors = 20;
  const int no_event = no_event_;
  const int in_function = in_function_;
  const std::size_t calls = call_stack_.size();
  const std::vector<std::size_t> ends = end_values_;
  try {
    part();
  } catch (const Error& error) {
    no_event_ = no_event;
    located_ = in_when_ = 0;
    in_function_ = in_function;
    call_stack_.resize(calls);
    end_values_ = ends;
    past_shadows_ = in_reinit_ = false;
    component_.clear();
    // The text of a class is wrong once, however many components are made of it.
    for (const Error& known : errors_)
      if (std::string_view(known.what()) == error.what()) return;
    errors_.push_back(error);
    if (errors_.size() == kMostErrors) throw_errors();
  }
}

void Flattener::check_imports() {
  std::unordered_set<const ClassDefinition*> seen;
  for_each_class_instance(*root_, [&](Instance& i) {
    for (const ClassInfo::Base& base : i.type.info->bases)
      for (const ClassDefinition* c = base.definition; c != nullptr && seen.insert(c).second;
           c = c->enclosing)
        for (const Import& import : c->imports)
          attempt([&] {
            if (const char* problem = tree_.import_problem(import))
              tree_.refuse_import(import, problem);
          });
  });
}

void Flattener::throw_errors() const {
  if (errors_.empty()) return;
  std::string message = errors_.front().message();
  for (std::size_t k = 1; k < errors_.size(); ++k) message += std::string("\n") + errors_[k].what();
  throw Error(message, errors_.front().where());
}

namespace {

// Calls whose value is no matter of parameters, or that leave something behind.
bool mentions_events(const Expression& expression) {
  if (const auto* call = expression.as<CallExpression>())
    for (const char* name :
         {"sample", "initial", "pre", "edge", "change", "terminal", "cardinality", "activeState",
          "timeInState", "previous", "hold", "interval", "firstTick", "subSample", "superSample",
          "shiftSample", "backSample", "noClock"})
      if (call->function.text() == name) return true;
  bool any = false;
  for_each_child(expression, [&](const Expression& child) { any = any || mentions_events(child); });
  return any;
}

}  // namespace

// Boolean and Integer variables that an equation ties to parameters (`ideal = p == 1`): they decide
// if-equations at translation, as parameters do.
void Flattener::find_known_discretes(Instance& instance) {
  for (const ClassInfo::Base& base : instance.type.info->bases)
    for (const EquationClause& equation : base.definition->equations) {
      const auto* simple = equation.as<SimpleEquation>();
      const auto* r = simple == nullptr ? nullptr : simple->left->as<ComponentReference>();
      if (r == nullptr || r->parts.size() != 1 || !r->parts[0].subscripts.empty()) continue;
      Instance* leaf = find_child(instance, r->parts[0].name);
      if (leaf == nullptr || !is_active(*leaf)) continue;
      resolve(*leaf);
      if (leaf->target != nullptr || !leaf->is_leaf() ||
          leaf->variability >= Variability::kParameter ||
          *leaf->type.info->basic == BasicType::kReal || mentions_events(*simple->right))
        continue;
      ++no_event_;
      try {
        const Value value = evaluate(*simple->right, {&instance, base.definition, nullptr});
        bool known = value.dimensions == dimensions(*leaf) && is_number_like(value.type);
        for (const Expr& e : value.numbers) known = known && fixed_number(e).has_value();
        if (known) known_discretes_.emplace(leaf, value);
      } catch (const Error&) {
        // It depends on variables, or it is wrong: then its translation says so.
      }
      --no_event_;
    }
}

void Flattener::read_drawing(const ClassDefinition& model) {
  const Argument* saltus = model.annotation()->find("__Saltus");
  if (saltus == nullptr || saltus->modification == nullptr) return;
  const Argument* drawing = saltus->modification->find("drawing");
  if (drawing == nullptr || drawing->modification == nullptr ||
      drawing->modification->value == nullptr)
    return;
  const Value lines =
      evaluate(*drawing->modification->value, {root_, &root_->definition(), nullptr});
  if (lines.strings.empty())
    throw Error("'drawing' is an array of Strings, for example {\"0,0 x,y\"}",
                drawing->place.location());
  flat_.system.experiment.drawing = lines.strings;
}

void Flattener::read_experiment(const ClassDefinition& model) {
  if (model.annotation() == nullptr) return;
  read_drawing(model);
  const Argument* experiment = model.annotation()->find("experiment");
  if (experiment == nullptr || experiment->modification == nullptr) return;
  const auto number = [&](const char* name) -> std::optional<double> {
    const Argument* argument = experiment->modification->find(name);
    if (argument == nullptr || argument->modification == nullptr ||
        argument->modification->value == nullptr)
      return std::nullopt;
    return constant_number(
        evaluate(*argument->modification->value, {root_, &root_->definition(), nullptr}),
        argument->place, "the experiment annotation");
  };
  Experiment& e = flat_.system.experiment;
  e.start_time = number("StartTime").value_or(e.start_time);
  e.stop_time = number("StopTime").value_or(e.start_time + 1.0);
  e.tolerance = number("Tolerance").value_or(e.tolerance);
  if (const std::optional<double> interval = number("Interval")) e.interval = interval;
  if (const std::optional<double> count = number("NumberOfIntervals"); count && *count > 0.0)
    e.interval = (e.stop_time - e.start_time) / *count;
}

}  // namespace saltus
