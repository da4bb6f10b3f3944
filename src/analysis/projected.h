#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "analysis/characteristic_values.h"
#include "model/dae.h"

namespace saltus {

class DerivativeArray;
struct ArrayAnalysis;

// The form HM (25): the whole derivative array F_mu in x and its derivatives as unknowns of their
// own, and the differential equations Z1^T F(t, x, x') with Z1 held fixed over a step. It needs
// nothing but numbers, so it serves where structure and numbers disagree, and where equations are
// redundant or more than unknowns. Dense least-squares Newton; for modes of moderate size.
struct ProjectedForm {
  DaeDefinition definition;    // the held inputs end with the entries of Z1, row-major m x d
  std::size_t array_rows = 0;  // residuals of the array; the projected ones follow
  std::size_t first_z1 = 0;    // place of Z1 in the held inputs
  int mu = 0;
};

ProjectedForm project(Graph& graph, const DaeDefinition& mode, const ArrayAnalysis& analysis);

// Z1 at a point of the projected form, for the held inputs. Keeps the old one if the ranks have
// changed; returns false then.
class ProjectorUpdate {
 public:
  ProjectorUpdate(Graph& graph, const DaeDefinition& mode, const CharacteristicValues& values);
  ~ProjectorUpdate();
  // x: all unknowns of the projected form.
  bool update(double t, const double* x, const std::vector<double>& parameters,
              std::vector<double>& held, std::size_t first_z1);

 private:
  CharacteristicValues values_;
  std::ptrdiff_t m_, n_;
  std::unique_ptr<DerivativeArray> array_;
};

}  // namespace saltus
