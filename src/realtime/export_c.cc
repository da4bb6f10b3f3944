#include "realtime/export_c.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <span>

#include "base/error.h"
#include "realtime/fixed_step_text.h"

namespace saltus {
namespace {

std::string number(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0.0 ? "INFINITY" : "-INFINITY";
  std::string text = fmt::format("{:.17g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string index(std::size_t value) {
  return value == FS_NONE ? "FS_NONE" : std::to_string(value);
}

std::string without(std::string text, const std::string& part) {
  const std::size_t at = text.find(part);
  return at == std::string::npos ? text : text.erase(at, part.size());
}

// The last part of a name, as C writes names.
std::string c_identifier(const std::string& name) {
  std::string made = name.substr(name.find_last_of('.') + 1);
  for (char& c : made)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  if (made.empty() || std::isdigit(static_cast<unsigned char>(made[0])) != 0) made = "m" + made;
  return made;
}

// Appends definitions to a text and gives the names by which they are referred to.
class Definitions {
 public:
  explicit Definitions(std::string& text) : text_(text) {}

  template <typename T, typename Write>
  std::string array(const char* type, std::span<const T> values, const Write& write) {
    if (values.empty()) return "NULL";
    std::string name = fmt::format("table{}", count_++);
    text_ += fmt::format("static const {} {}[] = {{", type, name);
    for (std::size_t k = 0; k < values.size(); ++k)
      text_ += (k == 0 ? "\n  " : k % 4 == 0 ? ",\n  " : ", ") + write(values[k]);
    text_ += "};\n";
    return name;
  }

  std::string numbers(const double* values, std::size_t count) {
    return array("double", std::span(values, count), number);
  }

  std::string indices(const std::size_t* values, std::size_t count) {
    return array("size_t", std::span(values, count), index);
  }

  std::string places(const fs_place* values, std::size_t count) {
    return array("fs_place", std::span(values, count),
                 [](const fs_place& p) { return fmt::format("{{{}, {}}}", p.kind, p.index); });
  }

  // The tape behind formulas that Saltus evaluates, as a function.
  std::string formulas(const fs_formulas& made) {
    const std::string name = fmt::format("formulas{}", count_++);
    if (made.self == nullptr) return "{NULL, NULL}";
    std::string text = static_cast<const TapeFormulas*>(made.self)->tape().to_c(name);
    const std::size_t called = text.find("extern double ");
    if (called != std::string::npos) {
      const std::size_t begin = called + 14;
      throw Error(
          fmt::format("the model calls the function '{}', which is not known as formulas: it "
                      "cannot be exported",
                      text.substr(begin, text.find('(', begin) - begin)));
    }
    text = without(text, "#include <math.h>\n");
    const std::string written =
        fmt::format("void {}(const double* const* in, double* restrict out) {{\n", name);
    const std::size_t at = text.find(written);
    text.replace(at, written.size(),
                 fmt::format("static void {}(const void* self, const double* const* in,\n"
                             "                      double* restrict out) {{\n  (void)self;\n",
                             name));
    text_ += text;
    return fmt::format("{{{}, NULL}}", name);
  }

 private:
  std::string& text_;
  int count_ = 0;
};

std::string write_configurations(Definitions& to, const fs_mode& m) {
  std::vector<std::string> rows;
  for (std::size_t k = 0; k < m.configuration_count; ++k) {
    const fs_configuration& c = m.configurations[k];
    const std::size_t steps = (FS_LEVELS + 1) * m.d * m.d;
    const std::string key = to.numbers(c.key, m.key_count);
    const std::string inverse = to.numbers(c.inverse, m.n * m.n);
    const std::string reaction = to.numbers(c.reaction, m.n * m.d);
    const std::string a = to.numbers(c.a, m.d * m.d);
    const std::string first = to.numbers(c.first, steps);
    const std::string second = to.numbers(c.second, steps);
    rows.push_back(
        fmt::format("{{{}, {}, {}, {}, {}, {}}}", key, inverse, reaction, a, first, second));
  }
  return to.array("fs_configuration", std::span<const std::string>(rows),
                  [](const std::string& row) { return row; });
}

std::string write_mode(Definitions& to, std::string& text, const fs_mode& m, std::size_t place,
                       std::size_t reset_count) {
  std::string fields;
  const auto put = [&](const char* field, const std::string& value) {
    fields += fmt::format("  .{} = {},\n", field, value);
  };
  put("n", index(m.n));
  put("d", index(m.d));
  const auto order = [&](const fs_order& o) -> std::string {
    if (o.row_place == nullptr) return "{NULL, NULL, NULL, NULL, NULL, NULL}";
    return fmt::format("{{{}, {}, {}, {}, {}, {}}}", to.indices(o.row_place, m.n),
                       to.indices(o.column_place, m.n), to.indices(o.lower_start, m.n + 1),
                       to.indices(o.lower, o.lower_start[m.n]), to.indices(o.upper_start, m.n + 1),
                       to.indices(o.upper, o.upper_start[m.n]));
  };
  put("slope_column", to.indices(m.slope_column, m.n));
  put("step_order", order(m.step_order));
  put("slope_order", order(m.slope_order));
  put("differential", to.indices(m.differential, m.d));
  put("algebraic", to.indices(m.algebraic, m.n - m.d));
  put("nominal", to.numbers(m.nominal, m.n));
  put("guess", to.places(m.guess, m.n));
  put("is_affine", std::to_string(m.is_affine));
  put("reads_time", std::to_string(m.reads_time));
  put("held_count", index(m.held_count));
  put("held", to.places(m.held, m.held_count));
  put("moving_count", index(m.moving_count));
  put("key_count", index(m.key_count));
  put("key", to.indices(m.key, m.key_count));
  put("residual", to.formulas(m.residual));
  put("jacobian", to.formulas(m.jacobian));
  put("entry_count", index(m.entry_count));
  put("entries", to.array("fs_entry", std::span(m.entries, m.entry_count), [](const fs_entry& e) {
    return fmt::format("{{{}, {}, {}}}", e.row, e.column, e.is_slope);
  }));
  put("relations", to.formulas(m.relations));
  put("outputs", to.formulas(m.outputs));
  put("variables", to.formulas(m.variables));
  put("target_count", index(m.target_count));
  put("targets", to.places(m.targets, m.target_count));
  put("resets", to.array("fs_reset", std::span(m.resets, reset_count), [](const fs_reset& r) {
    return fmt::format("{{{}, {}}}", index(r.place), number(r.sign));
  }));
  put("carried_count", index(m.carried_count));
  put("carried", to.indices(m.carried, m.carried_count));
  put("carried_reset", to.indices(m.carried_reset, m.carried_count));
  put("handover_count", index(m.handover_count));
  std::vector<std::string> handovers;
  for (const fs_handover& h : std::span(m.handovers, m.handover_count)) {
    const std::string asked = to.array("unsigned char", std::span(h.asked, reset_count),
                                       [](unsigned char f) { return std::to_string(f); });
    handovers.push_back(
        fmt::format("{{{}, {}, {}}}", asked, to.numbers(h.map, m.d * m.carried_count), h.is_rigid));
  }
  put("handovers", to.array("fs_handover", std::span<const std::string>(handovers),
                            [](const std::string& row) { return row; }));
  put("guard_count", index(m.guard_count));
  put("guards", to.indices(m.guards, m.guard_count));
  put("path_count", index(m.path_count));
  put("path", to.indices(m.path, m.path_count));
  put("open_count", index(m.open_count));
  put("open", to.indices(m.open, m.open_count));
  put("configuration_count", index(m.configuration_count));
  put("configurations", write_configurations(to, m));
  text += fmt::format("static const fs_mode mode{} = {{\n{}}};\n", place, fields);
  return fmt::format("&mode{}", place);
}

void write_model(Definitions& to, std::string& text, const fs_model& m) {
  std::string fields;
  const auto put = [&](const char* field, const std::string& value) {
    fields += fmt::format("  .{} = {},\n", field, value);
  };
  const auto count = [&](const char* field, std::size_t value) { put(field, index(value)); };
  put("start_time", number(m.start_time));
  put("step", number(m.step));
  put("adjustment", std::to_string(m.adjustment));
  put("propagates", std::to_string(m.propagates));
  put("max_events", std::to_string(m.max_events));
  std::vector<std::string> modes;
  for (std::size_t k = 0; k < m.mode_count; ++k)
    modes.push_back(m.modes[k] == nullptr ? "NULL"
                                          : write_mode(to, text, *m.modes[k], k, m.reset_count));
  put("variable_count", index(m.variable_count));
  count("slot_count", m.slot_count);
  count("output_count", m.output_count);
  count("relation_count", m.relation_count);
  put("relations",
      to.array("fs_relation", std::span(m.relations, m.relation_count), [](const fs_relation& r) {
        return fmt::format("{{{}, {}, {}, {}}}", r.slot, r.is_strict, r.is_continuous, r.is_impact);
      }));
  put("sizes", to.formulas(m.sizes));
  std::vector<std::string> levels;
  std::size_t equations = 0;
  for (std::size_t k = 0; k < m.level_count; ++k) {
    const fs_level& level = m.levels[k];
    for (std::size_t i = 0; i < level.count; ++i)
      if (level.items[i] >= m.relation_count) ++equations;
    const std::string items = to.indices(level.items, level.count);
    levels.push_back(
        fmt::format("{{{}, {}, {}}}", level.count, items, to.formulas(level.formulas)));
  }
  const auto as_is = [](const std::string& row) { return row; };
  count("level_count", m.level_count);
  put("levels", to.array("fs_level", std::span<const std::string>(levels), as_is));
  put("equation_slots", to.indices(m.equation_slots, equations));
  count("discrete_count", m.discrete_count);
  put("discretes",
      to.array("fs_discrete", std::span(m.discretes, m.discrete_count),
               [](const fs_discrete& v) { return fmt::format("{{{}, {}}}", v.slot, v.pre); }));
  count("reinit_count", m.reinit_count);
  put("reinits", to.formulas(m.reinits));
  put("reset_place", to.indices(m.reset_place, m.reinit_count));
  count("reset_count", m.reset_count);
  put("reset_variables", to.indices(m.reset_variables, m.reset_count));
  count("machine_count", m.machine_count);
  put("machines", to.indices(m.machines, m.machine_count));
  count("entrance_count", m.entrance_count);
  put("entrances", to.array("fs_entrance", std::span(m.entrances, m.entrance_count),
                            [](const fs_entrance& entrance) {
                              return fmt::format("{{{{{}, {}}}, {}, {}, {}}}", entrance.place.kind,
                                                 entrance.place.index, entrance.pre,
                                                 index(entrance.reset), entrance.is_set);
                            }));
  put("entrance_values", to.formulas(m.entrance_values));
  count("left_count", m.left_count);
  put("lefts", to.formulas(m.lefts));
  put("left_slots", to.indices(m.left_slots, m.left_count));
  count("termination_count", m.termination_count);
  put("terminations", to.formulas(m.terminations));
  count("sample_count", m.sample_count);
  put("samples",
      to.array("fs_sample", std::span(m.samples, m.sample_count), [](const fs_sample& s) {
        return fmt::format("{{{}, {}, {}}}", s.slot, s.next, number(s.interval));
      }));
  count("input_count", m.input_count);
  put("inputs", to.array("fs_input", std::span(m.inputs, m.input_count), [](const fs_input& i) {
    return fmt::format("{{{}, {}, {}, {}, {}}}", i.slot, i.pre, i.is_discrete, number(i.least),
                       number(i.most));
  }));
  count("mode_count", m.mode_count);
  put("modes", to.array("fs_mode* const", std::span<const std::string>(modes), as_is));
  count("condition_count", m.condition_count);
  put("conditions", to.formulas(m.conditions));
  count("row_count", m.row_count);
  put("rows", to.numbers(m.rows, m.row_count * m.condition_count));
  put("row_modes", to.indices(m.row_modes, m.row_count));
  count("start_mode", m.start_mode);
  put("start_values", to.numbers(m.start_values, m.variable_count));
  put("start_slopes", to.numbers(m.start_slopes, m.variable_count));
  put("start_slots", to.numbers(m.start_slots, m.slot_count));
  count("most_n", m.most_n);
  count("most_d", m.most_d);
  count("most_held", m.most_held);
  count("most_entries", m.most_entries);
  count("most_targets", m.most_targets);
  count("most_carried", m.most_carried);
  count("most_items", m.most_items);
  put("parameters", to.numbers(m.parameters, m.parameter_count));
  text += fmt::format("static const fs_model model = {{\n{}}};\n", fields);
}

std::string quoted_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += "  \"";
    for (const char c : name)
      text += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
    text += "\",\n";
  }
  return text.empty() ? "  \"\"\n" : text;
}

constexpr const char* kHeader = R"(/* {model} with a fixed step of {step} s, written by Saltus.

   {name}_init();
   for each sample:
     status = {name}_step(inputs);   the inputs are held over the step; NULL: as they were
     {name}_outputs(outputs);        the values at the end of the step

   No heap, no system calls, one instance; not to be called by two threads at once. */
#ifndef SALTUS_{name}_H
#define SALTUS_{name}_H

#ifdef __cplusplus
extern "C" {{
#endif

#define {name}_INPUTS {inputs}
#define {name}_OUTPUTS {outputs}

/* Bits of the status. */
#define {name}_EVENT_TAKEN 1u
#define {name}_MODE_UNPREPARED 2u   /* a mode was asked for that is not there: the present is held */
#define {name}_NOT_SETTLED 4u       /* rounds of an event are left for the next sample */
#define {name}_STATE_NOT_FINITE 8u  /* the state before the step is held */
#define {name}_EVENTS_LEFT 16u      /* more events than a sample may have: the rest comes later */
#define {name}_RESET_LOST 32u       /* reinit, and what follows in the mode is not prepared */
#define {name}_STATE_JUMPED 64u     /* a mode was entered that takes an impulse */
#define {name}_TERMINATED 128u      /* the model ended the run */
#define {name}_INPUT_REFUSED 256u   /* an input was no value of its type: its last is held */
#define {name}_STEP_ROUGH 512u      /* the step is too long for what is not linear in it */

extern const char* const {name}_input_names[];
extern const double {name}_input_start[];
extern const char* const {name}_output_names[];

void {name}_init(void);
unsigned {name}_step(const double* inputs);
void {name}_outputs(double* outputs);
double {name}_time(void);

#ifdef __cplusplus
}}
#endif

#endif
)";

constexpr const char* kInterface = R"(
static fs_engine engine;
static double model_numbers[{model_numbers}];
static unsigned char model_flags[{model_flags}];
static double mode_numbers[{mode_numbers}];
static size_t mode_indices[{mode_indices}];

const char* const {name}_input_names[] = {{
{input_names}}};
const double {name}_input_start[] = {{{input_start}}};
const char* const {name}_output_names[] = {{
{output_names}}};

void {name}_init(void) {{
  fs_memory memory;
  engine.model = &model;
  memory.numbers = model_numbers;
  memory.flags = model_flags;
  memory.indices = NULL;
  (void)fs_bind_model(&engine, memory);
  memory.numbers = mode_numbers;
  memory.flags = NULL;
  memory.indices = mode_indices;
  (void)fs_bind_modes(&engine, memory);
  fs_restart(&engine);
}}

unsigned {name}_step(const double* inputs) {{ return fs_step(&engine, inputs); }}

void {name}_outputs(double* outputs) {{ fs_outputs(&engine, outputs); }}

double {name}_time(void) {{ return fs_time(&engine); }}
)";

}  // namespace

CExport export_c(const RealtimeEngine& engine) {
  const fs_model& model = engine.tables();
  CExport made;
  made.name = c_identifier(engine.name());
  std::string input_start;
  std::vector<std::string> input_names;
  for (const RealtimeInput& input : engine.inputs()) {
    input_names.push_back(input.name);
    input_start += (input_start.empty() ? "" : ", ") + number(input.start);
  }
  made.header =
      fmt::format(fmt::runtime(kHeader), fmt::arg("model", engine.name()),
                  fmt::arg("step", model.step), fmt::arg("name", made.name),
                  fmt::arg("inputs", model.input_count), fmt::arg("outputs", model.output_count));
  made.source = fmt::format(
      "/* {}, written by Saltus: the engine, the formulas of the model, its tables. */\n"
      "#include \"{}.h\"\n\n#define FS_API static\n\n",
      engine.name(), made.name);
  made.source += kFixedStepHeader;
  made.source += without(kFixedStepSource, "#include \"realtime/fixed_step.h\"\n");
  made.source += "\n/* ---- The model ---- */\n";
  std::string text;
  Definitions definitions(text);
  write_model(definitions, text, model);
  made.source += text;
  fs_engine counted = engine.memory();
  const fs_counts of_model = fs_bind_model(&counted, {});
  const fs_counts of_modes = fs_bind_modes(&counted, {});
  const auto room = [](std::size_t count) { return std::max<std::size_t>(count, 1); };
  made.source += fmt::format(fmt::runtime(kInterface), fmt::arg("name", made.name),
                             fmt::arg("model_numbers", room(of_model.numbers)),
                             fmt::arg("model_flags", room(of_model.flags)),
                             fmt::arg("mode_numbers", room(of_modes.numbers)),
                             fmt::arg("mode_indices", room(of_modes.indices)),
                             fmt::arg("input_names", quoted_names(input_names)),
                             fmt::arg("input_start", input_start.empty() ? "0.0" : input_start),
                             fmt::arg("output_names", quoted_names(engine.output_names())));
  return made;
}

}  // namespace saltus
