#include "modelica/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/balance.h"
#include "modelica/flattener.h"
#include "modelica/library.h"
#include "modelica/parser.h"

namespace saltus {
namespace {

std::shared_ptr<Modification> make_modification(
    const std::string& option, const std::vector<std::pair<std::string, std::string>>& pairs) {
  auto result = std::make_shared<Modification>();
  for (const auto& [name, value] : pairs) {
    Argument argument;
    std::size_t from = 0;
    while (from <= name.size()) {
      // Not a point inside of subscripts.
      const std::size_t open = std::min(name.find('[', from), name.size());
      std::size_t dot = std::min(name.find('.', from), name.size());
      if (dot > open) dot = std::min(name.find('.', name.find(']', open)), name.size());
      argument.name.parts.push_back(name.substr(from, dot - from));
      if (argument.name.parts.back().empty())
        throw Error(fmt::format("{} {}={}: the name is not complete", option, name, value));
      from = dot + 1;
    }
    auto modification = std::make_shared<Modification>();
    modification->value = parse_expression(value, fmt::format("{} {}", option, name));
    argument.modification = modification;
    result->arguments.push_back(std::move(argument));
  }
  return result;
}

void add_folders(Library& library, const LoadOptions& options) {
  for (const std::filesystem::path& folder : options.libraries) library.add_folder(folder);
  if (options.use_modelica_path) library.add_modelica_path();
  if (!options.bundled.empty()) library.add_folder(options.bundled);
}

// Of what can be simulated, and of the packages it is in.
void add_names(const ClassDefinition& definition, std::vector<std::string>& names) {
  if (definition.kind == ClassKind::kFunction || definition.kind == ClassKind::kType ||
      definition.kind == ClassKind::kConnector || definition.kind == ClassKind::kRecord)
    return;
  names.push_back(definition.qualified_name());
  for (const auto& inside : definition.classes) add_names(*inside, names);
}

const ClassDefinition& choose(Library& library, const std::vector<const ClassDefinition*>& classes,
                              const std::string& name, const std::string& file) {
  if (classes.empty()) throw Error(fmt::format("'{}' contains no class", file));
  if (name.empty()) return *classes.back();
  for (const ClassDefinition* c : classes) {
    if (c->qualified_name() == name || c->name == name) return *c;
    if (const ClassDefinition* inside = library.find(c->qualified_name() + "." + name))
      return *inside;
  }
  if (const ClassDefinition* other = library.find(name)) return *other;
  std::vector<std::string> there;
  for (const ClassDefinition* c : classes) add_names(*c, there);
  constexpr std::size_t kListed = 20;
  const std::span<const std::string> shown =
      std::span(there).first(std::min(kListed, there.size()));
  throw Error(fmt::format("there is no class '{}' in '{}'{}; it has {}{}", name, file,
                          did_you_mean(name, there), fmt::join(shown, ", "),
                          shown.size() < there.size() ? ", ..." : ""));
}

FlatModel flatten(const std::shared_ptr<Library>& library, const ClassDefinition& model,
                  const LoadOptions& options) {
  FlatModel flat(model.qualified_name());
  const std::shared_ptr<Modification> overrides = make_modification("--set", options.overrides);
  // In the place of data stands an expression until the flattener comes to it.
  std::vector<std::pair<std::string, std::string>> pairs = options.inputs;
  for (const auto& [name, data] : options.data) pairs.emplace_back(name, "time");
  const std::shared_ptr<Modification> inputs = make_modification("--input", pairs);
  std::vector<std::pair<const Argument*, const InputData*>> data;
  for (std::size_t k = 0; k < options.data.size(); ++k) {
    check(options.data[k].second);
    data.emplace_back(&inputs->arguments[options.inputs.size() + k], &options.data[k].second);
  }
  for (const std::shared_ptr<Modification>& given : {overrides, inputs})
    for (const Argument& argument : given->arguments)
      if (const auto* text = argument.modification->value->as<StringLiteral>())
        library->allow_reading(text->value);
  Flattener flattener(std::make_shared<InstanceTree>(library), flat);
  flattener.run(model, *overrides, *inputs, data);
  check_balance(flat, flattener.variable_places(), model.place.location());
  check_reinits(flat);
  flat.variable_places = flattener.variable_places();
  return flat;
}

}  // namespace

FlatModel load_modelica(const std::string& model, const LoadOptions& options) {
  const auto library = std::make_shared<Library>();
  add_folders(*library, options);
  const std::size_t extension = model.rfind(".mo");
  const bool is_file = extension != std::string::npos &&
                       (extension + 3 == model.size() || model[extension + 3] == ':');
  if (!is_file) return flatten(library, library->get(model), options);
  const std::string file = model.substr(0, extension + 3);
  const std::string name =
      extension + 3 == model.size() ? std::string() : model.substr(extension + 4);
  if (name.empty() && extension + 3 != model.size())
    throw Error(fmt::format("'{}': the name of a class is missing after the colon", model));
  return flatten(library, choose(*library, library->load_file(file), name, file), options);
}

FlatModel load_modelica_text(std::string_view text, const std::string& name,
                             const LoadOptions& options, const std::string& file) {
  const auto library = std::make_shared<Library>();
  add_folders(*library, options);
  return flatten(library, choose(*library, library->load_text(text, file), name, file), options);
}

}  // namespace saltus
