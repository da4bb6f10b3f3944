#pragma once

namespace saltus {

// Strangeness index mu; d differential and a algebraic equations; v redundant equations, u free
// unknowns (HM Hypothesis 10).
struct CharacteristicValues {
  int mu = 0;
  int d = 0;
  int a = 0;
  int v = 0;
  int u = 0;
  bool operator==(const CharacteristicValues&) const = default;
};

}  // namespace saltus
