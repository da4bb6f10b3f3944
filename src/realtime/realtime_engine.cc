#include "realtime/realtime_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "analysis/sorted_waves.h"
#include "base/error.h"
#include "base/stop_request.h"
#include "expr/differentiate.h"
#include "realtime/input_table.h"
#include "realtime/surface_locks.h"

namespace saltus {
namespace {

ModeOptions offline_options() { return {.tolerance = 1e-9}; }

std::size_t index_of(const Expr& slot) { return slot.node()->slot().index(); }

// Whether formulas of parameters and slots have these values.
bool holds(const std::vector<std::pair<Expr, double>>& conditions, const HybridSystem& system,
           const std::vector<double>& parameters, const std::vector<double>& slots) {
  std::vector<Expr> formulas;
  for (const auto& [formula, value] : conditions) formulas.push_back(formula);
  const auto inputs = state_inputs(system);
  const Tape tape(formulas, {inputs[3], inputs[4]});
  Tape::Workspace registers = tape.make_workspace();
  std::vector<double> now(formulas.size());
  const double* in[] = {parameters.data(), slots.data()};
  tape.evaluate(in, registers, now.data());
  for (std::size_t k = 0; k < now.size(); ++k)
    if (now[k] != conditions[k].second) return false;
  return true;
}

// What conditions of reinit read, through discrete equations or not.
std::unordered_set<const Node*> read_for_reinit(const FlatModel& model) {
  std::unordered_set<const Node*> read;
  std::vector<Expr> open;
  for (const Reinit& r : model.reinits)
    if (r.handover == Handover::kReset) open.push_back(r.condition);
  while (!open.empty()) {
    std::vector<Expr> next;
    for (const Expr& leaf : leaves_of(open)) {
      if (!leaf.is_slot() || !read.insert(leaf.node()).second) continue;
      for (const DiscreteEquation& e : model.discrete_equations)
        if (e.target.same_as(leaf)) next.push_back(e.value);
    }
    open = std::move(next);
  }
  return read;
}

}  // namespace

RealtimeEngine::~RealtimeEngine() = default;

RealtimeEngine::RealtimeEngine(const HybridSystem& system, const RealtimeOptions& options)
    : system_(
          system.flat() != nullptr
              ? lock_surfaces(system)
              : throw Error(fmt::format(
                    "{} is written in C++; fixed steps need a model in Modelica", system.name()))),
      flat_(system_.flat()),
      model_(flat_->reduced),
      options_(options) {
  if (!(options.step > 0.0) || !std::isfinite(options.step))
    throw Error("the step must be positive");
  if (options.max_events < 1) throw Error("a sample needs room for at least one event");
  refuse_unsupported();
  const double start_time = options.start_time.value_or(system.experiment.start_time);
  const double stop_time = options.stop_time.value_or(system.experiment.stop_time);
  constexpr double kMostSamples = 1e8;
  constexpr double kLeastSamples = 1e-6;  // a run that would not leave its start
  const double samples = (stop_time - start_time) / options.step;
  if (!(stop_time >= start_time) || samples > kMostSamples ||
      (stop_time > start_time && samples < kLeastSamples))
    throw Error(fmt::format("from {:g} s to {:g} s are not between 0 and {:g} steps of {:g} s",
                            start_time, stop_time, kMostSamples, options.step));
  tables_.start_time = start_time;
  tables_.step = options.step;
  tables_.adjustment = static_cast<int>(options.adjustment);
  tables_.propagates = options.rounds == InstantRounds::kPropagated ? 1 : 0;
  tables_.max_events = options.max_events;
  for (const Parameter& p : system_.parameters()) parameters_.push_back(p.value);
  tables_.parameter_count = parameters_.size();
  tables_.parameters = parameters_.data();
  const StopScope scope(nullptr, options.prepare_seconds);
  try {
    compile();
    find_start();
    rehearse(stop_time);
  } catch (const StopRequested&) {
    refuse_to_go_on();
  }
}

void RealtimeEngine::refuse_to_go_on() const {
  throw Error(fmt::format(
      "the preparation took longer than {:g} s; {} modes were prepared and the rehearsal was at "
      "t = {:.10g}",
      options_.prepare_seconds, prepared_count(),
      engine_.model == nullptr ? tables_.start_time : time()));
}

// What is not there is refused, not approximated.
void RealtimeEngine::refuse_unsupported() const {
  if (!model_.delays.empty()) throw Error("delay() has no fixed-step form");
}

void RealtimeEngine::compile() {
  const auto inputs = state_inputs(system_);
  std::vector<Expr> sizes, list;
  const std::unordered_set<const Node*> read_by_reinit = read_for_reinit(model_);
  for (const Relation& r : model_.relations) {
    formulas_.relations.push_back(r.value);
    const bool is_continuous = !is_constant_in_mode(r.value);
    relation_table_.push_back({index_of(r.slot), r.strict == Strict::kYes ? 1 : 0,
                               is_continuous ? 1 : 0,
                               read_by_reinit.contains(r.slot.node()) ? 1 : 0});
    Expr size = 0.0;
    std::vector<Expr> leaves = leaves_of(r.value);
    std::erase_if(leaves, [](const Expr& leaf) { return !leaf.is_variable(); });
    const Expr value[] = {r.value};
    for (const JacobianEntry& entry : jacobian(value, leaves)) {
      const Expr& leaf = leaves[entry.column];
      size += abs(entry.value) * max(abs(leaf), system_.variables()[leaf.node()->index].nominal);
    }
    if (leaves.empty() && is_continuous) size = time_relation_size(r.value, system_.time());
    sizes.push_back(size);
  }
  relation_sizes_ = TapeFormulas(sizes, inputs);
  compile_resets(inputs);
  for (const Termination& e : model_.terminations) list.push_back(e.condition);
  terminations_ = TapeFormulas(list, inputs);
  list.clear();
  for (const LeftLimit& l : model_.left_limits) {
    list.push_back(l.value);
    left_slots_.push_back(index_of(l.slot));
  }
  lefts_ = TapeFormulas(list, inputs);
  for (const DiscreteVariable& v : model_.discretes) {
    discrete_table_.push_back({index_of(v.symbol), index_of(v.pre)});
    constexpr std::string_view kFed = "$input ";
    if (!v.name.starts_with(kFed)) continue;
    const bool is_real = v.type == DiscreteType::kReal;
    inputs_.push_back({v.name.substr(kFed.size()), !is_real, 0.0});
    constexpr double kWhole = 9007199254740992.0;  // beyond, whole numbers are not exact
    const bool is_boolean = v.type == DiscreteType::kBoolean;
    const bool is_named = v.type == DiscreteType::kEnumeration;
    const double least = is_boolean ? 0.0 : is_named ? 1.0 : -kWhole;
    const double most = is_boolean ? 1.0
                        : is_named ? static_cast<double>(v.literals.size())
                                   : kWhole;
    input_table_.push_back({index_of(v.symbol), index_of(v.pre), is_real ? 0 : 1, least, most});
  }
  compile_levels(inputs, sizes);
  list_samples();
  list_outputs();

  tables_.variable_count = system_.variables().size();
  tables_.slot_count = system_.graph().slot_count();
  tables_.output_count = output_names_.size();
  tables_.relation_count = relation_table_.size();
  tables_.relations = relation_table_.data();
  tables_.sizes = relation_sizes_.formulas();
  tables_.level_count = level_table_.size();
  tables_.levels = level_table_.data();
  tables_.equation_slots = equation_slots_.data();
  tables_.discrete_count = discrete_table_.size();
  tables_.discretes = discrete_table_.data();
  tables_.left_count = left_slots_.size();
  tables_.lefts = lefts_.formulas();
  tables_.left_slots = left_slots_.data();
  tables_.termination_count = model_.terminations.size();
  tables_.terminations = terminations_.formulas();
  tables_.sample_count = sample_table_.size();
  tables_.samples = sample_table_.data();
  tables_.input_count = input_table_.size();
  tables_.inputs = input_table_.data();
  event_.relations.reserve(relation_table_.size());
  changes_.resize(relation_table_.size());
}

// What reinit sets, and what state machines set and carry where they enter a state.
void RealtimeEngine::compile_resets(const std::vector<std::vector<Expr>>& inputs) {
  const auto place_of_reset = [&](const Expr& variable) {
    return std::ranges::find(formulas_.reset, VariableId(variable.node()->index)) -
           formulas_.reset.begin();
  };
  std::vector<Expr> conditions[2], values[2];  // of reinit, of entrances
  for (const Reinit& r : model_.reinits) {
    const bool is_entrance = r.handover != Handover::kReset;
    conditions[is_entrance ? 1 : 0].push_back(r.condition);
    values[is_entrance ? 1 : 0].push_back(r.value);
    const bool is_set = r.handover == Handover::kReset || r.handover == Handover::kSet;
    if (!is_set || r.variable.is_slot()) continue;
    const VariableId id(r.variable.node()->index);
    if (std::ranges::find(formulas_.reset, id) == formulas_.reset.end()) {
      formulas_.reset.push_back(id);
      reset_variables_.push_back(id.index());
    }
  }
  for (const Reinit& r : model_.reinits) {
    if (r.handover == Handover::kReset) {
      reset_place_.push_back(static_cast<std::size_t>(place_of_reset(r.variable)));
      continue;
    }
    fs_entrance entrance{place_of(r.variable), 0, FS_NONE, r.handover == Handover::kSet ? 1 : 0};
    if (r.variable.is_slot()) {
      entrance.pre = index_of(model_.pre(r.variable));
    } else if (const auto place = static_cast<std::size_t>(place_of_reset(r.variable));
               place < formulas_.reset.size()) {
      entrance.reset = place;
    }
    entrance_table_.push_back(entrance);
  }
  for (std::vector<Expr>& list : conditions) {
    std::vector<Expr>& of = values[&list - conditions];
    list.insert(list.end(), of.begin(), of.end());
  }
  reinits_ = TapeFormulas(conditions[0], inputs);
  entrance_values_ = TapeFormulas(conditions[1], inputs);
  for (const MachineSymbols& m : model_.machines) machine_slots_.push_back(index_of(m.fired));
  tables_.reinit_count = reset_place_.size();
  tables_.reinits = reinits_.formulas();
  tables_.reset_place = reset_place_.data();
  tables_.reset_count = formulas_.reset.size();
  tables_.reset_variables = reset_variables_.data();
  tables_.machine_count = machine_slots_.size();
  tables_.machines = machine_slots_.data();
  tables_.entrance_count = entrance_table_.size();
  tables_.entrances = entrance_table_.data();
  tables_.entrance_values = entrance_values_.formulas();
}

// Relations and discrete equations, sorted by what they read of each other.
void RealtimeEngine::compile_levels(const std::vector<std::vector<Expr>>& inputs,
                                    const std::vector<Expr>& sizes) {
  std::vector<SlotAssignment> items;
  for (const Relation& r : model_.relations) items.push_back({r.slot, r.value});
  for (const DiscreteEquation& e : model_.discrete_equations) {
    items.push_back({e.target, e.value});
    equation_slots_.push_back(index_of(e.target));
  }
  for (std::vector<std::size_t>& wave : sort_into_waves(items)) {
    std::vector<Expr> expressions;
    for (const std::size_t k : wave) expressions.push_back(items[k].value);
    for (const std::size_t k : wave) expressions.push_back(k < sizes.size() ? sizes[k] : Expr(0.0));
    tables_.most_items = std::max(tables_.most_items, wave.size());
    levels_.push_back(
        std::make_unique<Level>(Level{std::move(wave), TapeFormulas(expressions, inputs)}));
    const Level& level = *levels_.back();
    level_table_.push_back({level.items.size(), level.items.data(), level.formulas.formulas()});
  }
}

// sample(start, interval), whose interval does not change.
void RealtimeEngine::list_samples() {
  for (std::size_t k = 0; k < model_.samples.size(); ++k) {
    const Sample& s = model_.samples[k];
    const std::vector<Expr> list = {s.interval};
    const TapeFormulas formulas(list, state_inputs(system_));
    const SystemState start = start_state(system_);
    const double t = tables_.start_time;
    const double* in[] = {&t, start.values.data(), start.slopes.data(), parameters_.data(),
                          start.slots.data()};
    double interval = 0.0;
    formulas.formulas().evaluate(&formulas, in, &interval);
    if (!(interval * options_.max_events >= options_.step))
      throw Error(fmt::format("sample() every {:g} s is more than {} events in a step of {:g} s",
                              interval, options_.max_events, options_.step),
                  s.where);
    sample_table_.push_back({index_of(s.slot), index_of(flat_->next_samples[k]), interval});
  }
}

void RealtimeEngine::list_outputs() {
  std::map<std::string, Expr> results;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const Expr& result) {
    if (!name.starts_with('$') && results.emplace(name, result).second) names.push_back(name);
  };
  for (const Variable& v : system_.variables()) add(v.name, v.symbol);
  for (const Derived& d : system_.derived()) add(d.name, d.value);
  for (const std::string& name : options_.outputs.empty() ? names : options_.outputs) {
    const auto found = results.find(name);
    if (found == results.end()) throw Error(fmt::format("no variable '{}' to put out", name));
    output_names_.push_back(name);
    formulas_.outputs.push_back(found->second);
  }
}

ModeId RealtimeEngine::flat_mode(std::size_t index) {
  while (flat_modes_.size() <= index) {
    const Mode& mode = events_->mode(flat_modes_.size()).mode;
    flat_modes_.emplace_back(system_.modes().size());
    system_.mode(mode.name) = mode;
  }
  return flat_modes_[index];
}

// For the search for a start; null if the mode cannot be analysed, or not by its structure alone.
ModeRun* RealtimeEngine::start_run(std::size_t index, bool by_numbers_too) {
  StartRun& start = start_runs_[index];
  if (start.run != nullptr || start.is_refused) return start.run.get();
  const ModeId id = flat_mode(index);
  try {
    if (!start.is_unsettled) {
      check_structure(system_, system_.modes()[id.index()]);
      start.run = make_mode_run(system_, id, offline_options(), tables_.start_time, start_state_,
                                warnings_);
      start.is_unsettled = start.run == nullptr;
    }
    if (start.run == nullptr && by_numbers_too)
      start.run = std::make_unique<ModeRun>(
          system_, analyse_by_numbers(system_, id, tables_.start_time, start_state_),
          offline_options());
  } catch (const Error&) {
    start.is_refused = true;
  }
  return start.run.get();
}

// The start is an offline matter: the initial problem and the first event iteration.
void RealtimeEngine::find_start() {
  start_state_ = start_state(system_);
  events_ = std::make_unique<EventIteration>(
      system_, [this](std::size_t index) { return start_run(index, true); }, [] { return false; });
  events_->try_modes_by([this](std::size_t index) { return start_run(index, false); });
  const Settled settled = events_->start(tables_.start_time, start_state_);
  if (!settled.ok) throw Error(settled.problem);
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    inputs_[k].start = start_state_.slots[input_table_[k].slot];
  tables_.slot_count = start_state_.slots.size();
  tables_.variable_count = start_state_.values.size();
  tables_.start_values = start_state_.values.data();
  tables_.start_slopes = start_state_.slopes.data();
  tables_.start_slots = start_state_.slots.data();

  engine_.model = &tables_;
  const fs_counts counts = fs_bind_model(&engine_, {});
  model_numbers_.resize(counts.numbers);
  model_flags_.resize(counts.flags);
  fs_bind_model(&engine_, {model_numbers_.data(), model_flags_.data(), nullptr});
  std::ranges::copy(start_state_.values, engine_.values);
  std::ranges::copy(start_state_.slopes, engine_.slopes);
  std::ranges::copy(start_state_.values, engine_.base_values);
  std::ranges::copy(start_state_.slopes, engine_.base_slopes);
  std::ranges::copy(start_state_.slots, engine_.slots);
  // Forces that several locks share are split here by least norm, whatever was chosen offline.
  tables_.start_mode = prepare(events_->modes().unsplit(settled.mode), tables_.start_time);
  if (prepared_[tables_.start_mode] == nullptr) throw Error(objection_);
  note_way(tables_.start_mode);
}

// Room for the largest mode. What the engine holds of a point there is found again by fs_enter.
void RealtimeEngine::make_room() {
  mode_table_.assign(prepared_.size(), nullptr);
  for (std::size_t k = 0; k < prepared_.size(); ++k) {
    if (prepared_[k] == nullptr) continue;
    const fs_mode& mode = prepared_[k]->tables();
    mode_table_[k] = &mode;
    tables_.most_n = std::max(tables_.most_n, mode.n);
    tables_.most_d = std::max(tables_.most_d, mode.d);
    tables_.most_held = std::max(tables_.most_held, mode.held_count);
    tables_.most_entries = std::max(tables_.most_entries, mode.entry_count);
    tables_.most_targets = std::max(tables_.most_targets, mode.target_count);
    tables_.most_carried = std::max(tables_.most_carried, mode.carried_count);
  }
  tables_.mode_count = mode_table_.size();
  tables_.modes = mode_table_.data();
  const fs_counts counts = fs_bind_modes(&engine_, {});
  mode_numbers_.assign(counts.numbers, 0.0);
  mode_indices_.assign(counts.indices, 0);
  fs_bind_modes(&engine_, {mode_numbers_.data(), nullptr, mode_indices_.data()});
}

std::size_t RealtimeEngine::add_mode(std::size_t flat) {
  prepared_.emplace_back();
  flat_of_.push_back(flat);
  make_room();
  return prepared_.size() - 1;
}

// From the point where the round at hand starts: by structure, which leaves sparse formulas, or by
// numbers where structure does not do (locked elements that form a cycle). Returns the mode of the
// engine; if it is not prepared, objection_ says why.
std::size_t RealtimeEngine::prepare(std::size_t flat, double t) {
  const auto [place, is_new] = general_.try_emplace(flat, 0);
  if (is_new) place->second = add_mode(flat);
  const std::size_t general = place->second;
  const std::size_t before = engine_.mode;
  if (is_new) try {
      prepare_by_structure(general, t);
    } catch (const Error& error) {
      objections_[general] = error.message();
    }
  const bool is_ready = prepared_[general] != nullptr && enters(general, t);
  const std::size_t found = is_ready ? general : prepare_by_numbers(flat, t);
  engine_.mode = before;
  return found;
}

// Whether the mode has a point with the values held now.
bool RealtimeEngine::enters(std::size_t mode, double t) {
  std::copy_n(engine_.base_values, tables_.variable_count, engine_.values);
  std::copy_n(engine_.base_slopes, tables_.variable_count, engine_.slopes);
  return fs_enter(&engine_, mode, t) != 0;
}

std::size_t RealtimeEngine::prepare_by_numbers(std::size_t flat, double t) {
  constexpr std::size_t kMostSpecial = 64;  // of one mode of the model
  const SystemState state = base_state();
  const std::size_t general = general_[flat];
  std::size_t specials = 0;
  for (const auto& [mode, way] : ways_) {
    if (flat_of_[mode] != flat || !way.is_special) continue;
    ++specials;
    if (holds(way.conditions, system_, parameters_, state.slots)) return mode;
  }
  std::string& objection = singular_[{flat, state.slots}];
  if (objection.empty()) try {
      if (specials >= kMostSpecial) throw Error("it has too many sets of held values");
      ModeCore core = core_by_numbers(system_, events_->mode(flat).mode, parameters_, state.slots);
      const std::vector<std::pair<Expr, double>> frozen = core.frozen;
      // The one for all values, if it is none, or one beside it.
      const bool takes_general = frozen.empty() && prepared_[general] == nullptr;
      const std::size_t mode = takes_general ? general : add_mode(flat);
      take_core(mode, std::move(core), t, state);
      note_way(mode);
      Way& way = ways_[mode];
      way.is_special = !takes_general;
      way.conditions.insert(way.conditions.end(), frozen.begin(), frozen.end());
      return mode;
    } catch (const Error& error) {
      objection = objections_[general].empty()
                      ? error.message()
                      : objections_[general] + "; by numbers: " + error.message();
    }
  objection_ = objection;
  return general;
}

void RealtimeEngine::prepare_by_structure(std::size_t mode, double t) {
  const ModeId id = flat_mode(flat_of_[mode]);
  const std::string& name = this->mode(mode).mode.name;
  check_structure(system_, system_.modes()[id.index()]);
  SystemState state = base_state();
  std::unique_ptr<ModeRun> run = make_mode_run(system_, id, offline_options(), t, state, warnings_);
  if (run == nullptr)
    throw Error(
        fmt::format("mode '{}' cannot be prepared for fixed steps: its structure does not tell its "
                    "constraints",
                    name));
  if (!run->make_consistent(t, state).ok())
    throw Error(fmt::format("mode '{}' has no consistent point at t = {:.10g}", name, t));
  take_core(mode, core_by_structure(system_, std::move(run)), t, state);
}

SystemState RealtimeEngine::base_state() const {
  return {{engine_.base_values, engine_.base_values + tables_.variable_count},
          {engine_.base_slopes, engine_.base_slopes + tables_.variable_count},
          {engine_.slots, engine_.slots + tables_.slot_count}};
}

// Compiles a core and finds its point near a guess, as the steps will.
void RealtimeEngine::take_core(std::size_t mode, ModeCore core, double t, const SystemState& near) {
  std::vector<std::size_t> guards;
  for (const std::size_t r : this->mode(mode).sources)
    if (r < model_.relations.size()) guards.push_back(r);
  prepared_[mode] =
      std::make_unique<PreparedMode>(system_, std::move(core), formulas_, std::move(guards),
                                     options_.method == RealtimeMethod::kExact);
  make_room();
  std::ranges::copy(near.values, engine_.values);
  std::ranges::copy(near.slopes, engine_.slopes);
  if (fs_enter(&engine_, mode, t) != 0) {
    if (!prepared_[mode]->is_affine())
      prepared_[mode]->choose_pivots(engine_.entries, options_.step);
    return;
  }
  prepared_[mode] = nullptr;
  make_room();
  throw Error(
      fmt::format("mode '{}' cannot be prepared for fixed steps: its equations do not determine "
                  "the derivatives and the other unknowns from the states",
                  this->mode(mode).mode.name));
}

std::size_t RealtimeEngine::find_or_prepare(double t) noexcept {
  try {
    const std::vector<double> slots(engine_.slots, engine_.slots + tables_.slot_count);
    const std::size_t found = prepare(events_->modes().find(parameters_, slots), t);
    note_way(found);
    return found;
  } catch (const Error& error) {
    objection_ = error.message();
    return FS_NONE;
  } catch (const StopRequested&) {
    is_late_ = true;  // this must not pass through C
    return FS_NONE;
  }
}

// Near the point of the engine, whose mode it is.
void RealtimeEngine::make_handover(double t) noexcept {
  const SystemState point = {{engine_.values, engine_.values + tables_.variable_count},
                             {engine_.slopes, engine_.slopes + tables_.variable_count},
                             {engine_.slots, engine_.slots + tables_.slot_count}};
  try {
    add_handover(engine_.mode, t, point, {engine_.asked, engine_.asked + formulas_.reset.size()});
  } catch (const StopRequested&) {
    is_late_ = true;  // this must not pass through C
  }
}

void RealtimeEngine::add_handover(std::size_t mode, double t, const SystemState& point,
                                  const std::vector<unsigned char>& asked) {
  if (!tried_handovers_.insert({mode, {asked.begin(), asked.end()}}).second) return;
  prepared_[mode]->add_handover(system_, formulas_, t, point, asked);
}

void RealtimeEngine::tell_event(double t, std::size_t from, std::size_t to, int rounds) noexcept {
  event_.relations.clear();
  for (std::size_t r = 0; r < tables_.relation_count; ++r)
    if (engine_.fired[r] != 0) event_.relations.push_back(r);
  event_.time = t;
  event_.from = from;
  event_.to = to;
  event_.rounds = rounds;
  watch_for_chattering(t);
  if (on_event) on_event(event_);
}

// A relation that changes to and fro within the least part of a step follows no motion: what it
// decides is undone by what follows from it. Impacts may come that close.
void RealtimeEngine::watch_for_chattering(double t) noexcept {
  constexpr int kMostChanges = 4;
  constexpr double kMoment = 1e-6;  // of a step
  for (const std::size_t r : event_.relations) {
    if (relation_table_[r].is_impact != 0) continue;
    Changes& changes = changes_[r];
    if (!(t - changes.since <= kMoment * options_.step && t >= changes.since)) changes = {t, 0};
    if (++changes.count == kMostChanges) chattering_ = r;
  }
}

void RealtimeEngine::rehearse(double stop_time) {
  constexpr int kLongestStorm = 16;
  engine_.hooks.owner = this;
  engine_.hooks.find_mode = [](void* owner, double t) {
    return static_cast<RealtimeEngine*>(owner)->find_or_prepare(t);
  };
  engine_.hooks.keep = [](void* owner, std::size_t mode, const fs_configuration* made) {
    static_cast<RealtimeEngine*>(owner)->prepared_[mode]->add_configuration(*made);
  };
  engine_.hooks.make_handover = [](void* owner, double t) {
    static_cast<RealtimeEngine*>(owner)->make_handover(t);
  };
  engine_.hooks.on_event = [](void* owner, double t, std::size_t from, std::size_t to, int rounds) {
    static_cast<RealtimeEngine*>(owner)->tell_event(t, from, to, rounds);
  };
  restart();
  std::optional<InputTable> table;
  if (!options_.rehearsal_inputs.empty()) table.emplace(options_.rehearsal_inputs, inputs_);
  const double end = stop_time - 1e-9 * options_.step;
  int storm = 0;
  const auto refuse = [&](const std::string& what) {
    if (refusal_.empty())
      refusal_ =
          fmt::format("{} at t = {:.10g} in mode '{}'", what, time(), mode(engine_.mode).mode.name);
  };
  while (time() < end && refusal_.empty() && engine_.is_terminated == 0) {
    objection_.clear();
    const unsigned status = step(table ? table->at(time()) : nullptr);
    check_stop();
    if (is_late_) refuse_to_go_on();
    if ((status & kResetLost) != 0) refuse("what follows from reinit in that mode is not unique");
    if ((status & kStateNotFinite) != 0) refuse("a step of this length has no finite solution");
    if ((status & kStateJumped) != 0)
      refuse(
          fmt::format("{} jumps by {:.3g}, which takes an impulse, and fixed steps have none (say "
                      "by reinit what it jumps to)",
                      system_.variables()[engine_.jumped].name,
                      engine_.values[engine_.jumped] - engine_.left_values[engine_.jumped]));
    if ((status & kNotSettled) != 0 && options_.rounds == InstantRounds::kFull)
      refuse(fmt::format("{}no discrete values agree with the relations{}",
                         objection_.empty() ? "" : objection_ + "; without that mode ",
                         event_.relations.empty()
                             ? ""
                             : " where '" + relation_text(event_.relations.front()) + "' changes"));
    if (chattering_)
      refuse(fmt::format("'{}' keeps changing to and fro", relation_text(*chattering_)));
    storm = (status & kEventsLeft) != 0 ? storm + 1 : 0;
    if (storm == kLongestStorm)
      refuse(fmt::format(
          "more than {} events in each of {} samples: '{}' keeps changing", options_.max_events,
          kLongestStorm,
          event_.relations.empty() ? "a relation" : relation_text(event_.relations.front())));
  }
  if (!refusal_.empty()) throw Error(refusal_);
  if (options_.neighbours > 0) prepare_neighbours();
  engine_.hooks.find_mode = nullptr;
  engine_.hooks.keep = nullptr;
  engine_.hooks.make_handover = nullptr;
  compile_lookup();
  restart();
}

// Modes that differ from those met in one structural condition, then from these, and so on. They
// are what inputs that the rehearsal did not see may lead to. One that cannot be prepared is left
// out. The impulses that lead into them are prepared for no reinit and for each one by itself.
void RealtimeEngine::prepare_neighbours() {
  std::vector<std::size_t> queue;
  for (const auto& [mode, way] : ways_) queue.push_back(mode);
  const std::size_t most = queue.size() + options_.neighbours;
  for (std::size_t k = 0; k < queue.size() && prepared_count() < most; ++k)
    for (const std::size_t next :
         events_->modes().neighbours(flat_of_[queue[k]], parameters_, start_state_.slots)) {
      if (prepared_count() >= most || general_.contains(next)) continue;
      check_stop();
      std::ranges::copy(start_state_.values, engine_.base_values);
      std::ranges::copy(start_state_.slopes, engine_.base_slopes);
      std::ranges::copy(start_state_.slots, engine_.slots);
      const std::size_t mode = prepare(next, tables_.start_time);
      if (prepared_[mode] == nullptr) continue;
      note_way(mode);
      ways_[mode].names.clear();
      queue.push_back(mode);
    }
  std::vector<unsigned char> asked(formulas_.reset.size(), 0);
  for (const std::size_t mode : queue) {
    check_stop();
    add_handover(mode, tables_.start_time, start_state_, asked);
    for (unsigned char& one : asked) {
      one = 1;
      add_handover(mode, tables_.start_time, start_state_, asked);
      one = 0;
    }
  }
}

void RealtimeEngine::note_way(std::size_t mode) {
  const auto [place, is_new] = ways_.try_emplace(mode);
  Way& way = place->second;
  if (is_new) {
    for (const auto& [condition, value] : this->mode(mode).frozen)
      way.conditions.emplace_back(condition, value ? 1.0 : 0.0);
    std::ranges::sort(way.conditions, {}, [](const auto& c) { return c.first.node()->id; });
  }
  std::vector<double> names;
  for (const DiscreteVariable& v : model_.discretes)
    if (v.names_mode) names.push_back(engine_.slots[index_of(v.symbol)]);
  way.names.insert(std::move(names));
}

// The ways as rows of values of all conditions; those without names, which only decide between
// modes with the same equations, after the others.
void RealtimeEngine::compile_lookup() {
  const std::vector<std::vector<Expr>> symbols = state_inputs(system_);
  std::vector<Expr> conditions;
  for (const DiscreteVariable& v : model_.discretes)
    if (v.names_mode) conditions.push_back(v.symbol);
  const std::size_t naming = conditions.size();
  std::map<const Node*, std::size_t> places;
  for (const auto& [mode, way] : ways_)
    for (const auto& [condition, value] : way.conditions)
      if (places.emplace(condition.node(), conditions.size()).second)
        conditions.push_back(condition);
  conditions_ = TapeFormulas(conditions, {symbols[3], symbols[4]});
  const auto add_row = [&](std::size_t mode, const Way& way, const std::vector<double>& names) {
    std::vector<double> row(conditions.size(), std::numeric_limits<double>::quiet_NaN());
    std::ranges::copy(names, row.begin());
    for (const auto& [condition, value] : way.conditions) row[places[condition.node()]] = value;
    rows_.insert(rows_.end(), row.begin(), row.end());
    row_modes_.push_back(mode);
  };
  for (const bool is_special : {true, false}) {
    for (const auto& [mode, way] : ways_)
      for (const std::vector<double>& names : way.names)
        if (way.is_special == is_special) add_row(mode, way, names);
    for (const auto& [mode, way] : ways_)
      if (way.is_special == is_special && (naming > 0 || way.names.empty())) add_row(mode, way, {});
  }
  tables_.condition_count = conditions.size();
  tables_.conditions = conditions_.formulas();
  tables_.row_count = row_modes_.size();
  tables_.rows = rows_.data();
  tables_.row_modes = row_modes_.data();
  make_room();
}

void RealtimeEngine::restart() noexcept { fs_restart(&engine_); }

const FlatMode& RealtimeEngine::mode(std::size_t index) const {
  return events_->mode(flat_of_[index]);
}

const std::string& RealtimeEngine::relation_text(std::size_t relation) const {
  return model_.relations[relation].text;
}

std::size_t RealtimeEngine::prepared_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(prepared_, [](const auto& p) { return p != nullptr; }));
}

}  // namespace saltus
