#include "analysis/structural_values.h"

#include <algorithm>

namespace saltus {

CharacteristicValues structural_values(const Offsets& offsets) {
  CharacteristicValues values;
  for (const int c : offsets.c) {
    values.mu = std::max(values.mu, c);
    values.d -= c;
  }
  for (const int d : offsets.d) values.d += d;
  values.a = static_cast<int>(offsets.d.size()) - values.d;
  return values;
}

}  // namespace saltus
