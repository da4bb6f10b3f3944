#include "analysis/carried_unknowns.h"

#include <algorithm>

#include "expr/differentiate.h"

namespace saltus {

std::vector<bool> unknowns_under_der(const AnalysedMode& mode) {
  const DaeDefinition& written = mode.written;
  std::vector<bool> under_der(written.unknowns.size(), false);
  for (const JacobianEntry& e : jacobian(written.residuals, written.derivatives))
    under_der[e.column] = true;
  return under_der;
}

CarriedUnknowns::CarriedUnknowns(const AnalysedMode& mode) : under_der(unknowns_under_der(mode)) {
  const DaeDefinition& written = mode.written;
  const DaeDefinition& def = mode.dae->definition();
  const std::size_t n = written.unknowns.size();
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
  shared.assign(def.unknowns.size(), false);
  for (std::size_t j = 0; j < n; ++j) {
    if (!under_der[j]) continue;
    if (given[place[j]] || !in_y[j].same_as(written.unknowns[j])) shared[place[j]] = true;
    given[place[j]] = true;
  }
}

void CarriedUnknowns::carry(const std::vector<double>& x, const std::vector<double>& nominal,
                            std::vector<double>& y) const {
  std::vector<double> sum(given.size(), 0.0);
  std::vector<double> weight(given.size(), 0.0);
  for (std::size_t j = 0; j < x.size(); ++j) {
    if (!under_der[j]) continue;
    const double w = factor[j] / (nominal[j] * nominal[j]);
    sum[place[j]] += w * (x[j] - offset[j]);
    weight[place[j]] += w * factor[j];
  }
  for (std::size_t k = 0; k < shared.size(); ++k)
    if (shared[k]) y[k] = sum[k] / weight[k];
}

}  // namespace saltus
