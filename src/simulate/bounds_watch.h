#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/flat_model.h"

namespace saltus {

// Looks at the points that are stored for variables that leave what their min and max allow.
class BoundsWatch {
 public:
  // `sign` times the column is the value. What the tolerance leaves open is no violation.
  void add(const Bounds& bounds, std::size_t column, double sign, double tolerance);

  void look(double t, const double* row) {
    for (Bounded& b : bounded_)
      if (row[b.column] < b.low || row[b.column] > b.high) note(b, t, row[b.column]);
  }

  // One for each variable, about where it was seen outside first.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Bounded {
    std::size_t column;
    double low;
    double high;
    double sign;
    Bounds bounds;
  };
  void note(Bounded& b, double t, double stored);

  std::vector<Bounded> bounded_;
  std::vector<std::string> warnings_;
};

}  // namespace saltus
