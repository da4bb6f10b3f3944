#include "analysis/carried_unknowns.h"

#include <algorithm>

#include "expr/differentiate.h"

namespace saltus {

CarriedUnknowns::CarriedUnknowns(const AnalysedMode& mode) {
  const DaeDefinition& written = mode.written;
  const DaeDefinition& def = mode.dae->definition();
  const std::size_t n = written.unknowns.size();
  under_der.assign(n, false);
  for (const JacobianEntry& e : jacobian(written.residuals, written.derivatives))
    under_der[e.column] = true;

  place.resize(n);
  factor.assign(n, 1.0);
  offset.assign(n, 0.0);
  std::vector<Expr> in_y = written.unknowns;
  if (mode.reduced != nullptr)
    for (Expr& x : in_y) x = mode.reduced->rewrite(x);
  for (const JacobianEntry& e : jacobian(in_y, def.unknowns)) {
    place[e.row] = e.column;
    factor[e.row] = e.value.number();
  }
  for (std::size_t j = 0; j < n; ++j) {
    if (in_y[j].is_variable()) continue;
    const Expr symbol[] = {def.unknowns[place[j]]};
    const Expr zero[] = {0.0};
    offset[j] = substitute(in_y[j], symbol, zero).number();
  }

  given.assign(def.unknowns.size(), false);
  alias.assign(def.unknowns.size(), npos);
  for (std::size_t j = 0; j < n; ++j)
    if (under_der[j] && in_y[j].same_as(written.unknowns[j])) given[place[j]] = true;
  for (std::size_t j = 0; j < n; ++j) {
    if (!under_der[j] || given[place[j]]) continue;
    given[place[j]] = true;
    alias[place[j]] = j;
  }
}

}  // namespace saltus
