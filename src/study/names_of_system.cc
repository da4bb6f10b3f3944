#include "study/names_of_system.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "study/expression.h"

namespace saltus {

Expr find_result(const HybridSystem& system, const std::string& name) {
  if (name == "time") return system.time();
  if (name.starts_with("der(") && name.ends_with(")"))
    return der(find_result(system, name.substr(4, name.size() - 5)));
  for (const Variable& v : system.variables())
    if (v.name == name) return v.symbol;
  for (const Parameter& p : system.parameters())
    if (p.name == name) return p.symbol;
  for (const Derived& d : system.derived())
    if (d.name == name) return d.value;
  std::vector<std::string> known;
  for (const Variable& v : system.variables()) known.push_back(v.name);
  for (const Parameter& p : system.parameters()) known.push_back(p.name);
  for (const Derived& d : system.derived()) known.push_back(d.name);
  throw Error(
      fmt::format("{} has no result '{}'{}", system.name(), name, did_you_mean(name, known)));
}

Expr parse_result(const HybridSystem& system, const std::string& text) {
  return parse_expression(text, [&](const std::string& name) { return find_result(system, name); });
}

}  // namespace saltus
