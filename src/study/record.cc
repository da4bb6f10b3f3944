#include "study/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/suggest.h"
#include "study/expression.h"

namespace saltus {

RunRecord parse_record(const std::string& text) {
  // "name = expression"; a lone '=' that is no part of <=, >= or ==.
  for (std::size_t k = 1; k + 1 < text.size(); ++k) {
    if (text[k] != '=' || text[k + 1] == '=' || text[k - 1] == '=' || text[k - 1] == '<' ||
        text[k - 1] == '>')
      continue;
    const auto trim = [](std::string part) {
      part.erase(0, part.find_first_not_of(" \t"));
      part.erase(part.find_last_not_of(" \t") + 1);
      return part;
    };
    RunRecord record{trim(text.substr(0, k)), trim(text.substr(k + 1))};
    if (record.name.empty() || record.text.empty()) break;
    return record;
  }
  if (text.find_first_not_of(" \t") == std::string::npos)
    throw Error("--record needs an expression, for example --record \"max(w1)\"");
  return {text, text};
}

RecordSink::RecordSink(std::vector<RunRecord> records) : records_(std::move(records)) {}
RecordSink::~RecordSink() = default;

Trajectory::Source RecordSink::find(const Trajectory& layout, const std::string& name) const {
  for (std::size_t k = 0; k < layout.parameters.size(); ++k)
    if (layout.parameters[k].name == name)
      return {Trajectory::Source::kNoColumn, layout.parameter_values[k]};
  return layout.source(layout.find(name));
}

void RecordSink::compile(const Trajectory& layout) {
  const auto resolve = [&](const std::string& name) -> Expr {
    if (name == "time") return graph_.time();
    for (const Input& input : inputs_)
      if (input.name == name) return input.symbol;
    inputs_.push_back({name, graph_.new_variable(name), find(layout, name)});
    return inputs_.back().symbol;
  };
  static const std::map<std::string, Over> kFunctions = {
      {"final", Over::kEnd}, {"initial", Over::kStart}, {"min", Over::kMin},
      {"max", Over::kMax},   {"mean", Over::kMean},     {"integral", Over::kIntegral}};
  std::vector<Expr> arguments;
  const auto aggregate = [&](const std::string& function, const std::vector<Expr>& given,
                             Expr& value) {
    const auto over = kFunctions.find(function);
    if (over == kFunctions.end() || given.size() != 1) return false;
    for (const Aggregate& known : aggregates_)
      if (given[0].same_as(known.symbol))
        throw Error(fmt::format("{}() of what is one number of the run already", function));
    value = graph_.new_variable(function);
    aggregates_.push_back({over->second, value, std::numeric_limits<double>::quiet_NaN()});
    arguments.push_back(given[0]);
    return true;
  };
  std::vector<Expr> values;
  for (const RunRecord& record : records_) {
    try {
      values.push_back(parse_expression(record.text, resolve, aggregate));
    } catch (const Error& error) {
      throw Error(fmt::format("--record {}: {}", record.text, error.message()));
    }
  }
  std::vector<Expr> symbols, results;
  for (const Input& input : inputs_) symbols.push_back(input.symbol);
  for (const Aggregate& a : aggregates_) results.push_back(a.symbol);
  const std::vector<std::vector<Expr>> groups = {{graph_.time()}, symbols, results};
  inner_ = Tape(arguments, {{graph_.time()}, symbols}, TapeCode::kInterpreted);
  outer_ = Tape(values, groups, TapeCode::kInterpreted);
  inner_registers_ = inner_.make_workspace();
  argument_values_.resize(arguments.size());
  last_arguments_.resize(arguments.size());
  input_values_.assign(inputs_.size(), std::numeric_limits<double>::quiet_NaN());
}

void RecordSink::begin(const Trajectory& layout) {
  if (points_ == 0 && input_values_.empty() && argument_values_.empty()) compile(layout);
  for (Input& input : inputs_) input.source = find(layout, input.name);
}

void RecordSink::store(double time, ModeId mode, const double* columns) {
  if (modes_.empty() || modes_.back() != mode) modes_.push_back(mode);
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    input_values_[k] = inputs_[k].source.read(columns);
  const double* groups[] = {&time, input_values_.data()};
  inner_.evaluate(groups, inner_registers_, argument_values_.data());
  const bool first = points_++ == 0;
  if (first) first_time_ = time;
  for (std::size_t k = 0; k < aggregates_.size(); ++k) {
    double& value = aggregates_[k].value;
    const double now = argument_values_[k];
    switch (aggregates_[k].over) {
      case Over::kEnd:
        value = now;
        break;
      case Over::kStart:
        if (first) value = now;
        break;
      // What is not a number is passed over only where something else is known.
      case Over::kMin:
        value = first ? now : std::fmin(value, now);
        break;
      case Over::kMax:
        value = first ? now : std::fmax(value, now);
        break;
      case Over::kMean:
      case Over::kIntegral:
        value = first ? 0.0 : value + 0.5 * (time - last_time_) * (now + last_arguments_[k]);
        break;
    }
    last_arguments_[k] = now;
  }
  last_time_ = time;
}

std::vector<double> RecordSink::values() const {
  std::vector<double> results(records_.size(), std::numeric_limits<double>::quiet_NaN());
  if (points_ == 0) return results;
  std::vector<double> aggregated;
  for (const Aggregate& a : aggregates_) {
    const bool is_mean = a.over == Over::kMean && last_time_ > first_time_;
    aggregated.push_back(is_mean ? a.value / (last_time_ - first_time_) : a.value);
  }
  Tape::Workspace registers = outer_.make_workspace();
  const double* groups[] = {&last_time_, input_values_.data(), aggregated.data()};
  outer_.evaluate(groups, registers, results.data());
  return results;
}

}  // namespace saltus
