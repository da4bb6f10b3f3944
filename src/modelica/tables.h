#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "expr/function.h"
#include "expr/table.h"
#include "modelica/value.h"

namespace saltus {

// The numbers behind a CombiTable1D, CombiTable2D or CombiTimeTable, and lookups as expressions.
class TableData {
 public:
  enum class Smoothness { kLinear = 1, kContinuous = 2, kConstant = 3, kMonotone = 4 };
  enum class Beyond { kHold = 1, kLastTwoPoints = 2, kPeriodic = 3, kNone = 4 };

  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> columns;  // from 0, in the order of icol
  Smoothness smoothness = Smoothness::kLinear;
  Beyond beyond = Beyond::kLastTwoPoints;
  double start_time = 0.0;  // of time tables
  std::string name;

  double first() const { return rows.front().front(); }
  double last() const { return rows.back().front(); }
  double corner(bool greatest, int axis) const;

  // Column icol (from 1) at u.
  Expr value(std::size_t icol, const Expr& u, const Place& place);
  // A two-dimensional table, bilinear.
  Expr value2(const Expr& u1, const Expr& u2, const Place& place);
  // A time table: `next` is the next time event, which bounds the interval in use.
  Expr time_value(std::size_t icol, const Expr& time, const Expr& next, const Place& place);
  Expr next_event(const Expr& time);

 private:
  std::vector<std::shared_ptr<const Table>> made_;  // by icol
  std::shared_ptr<const Function> bilinear_;
  std::vector<std::shared_ptr<const Function>> timed_;
  std::shared_ptr<const Function> next_;
};

// Reads the arguments of the constructor, and the file if one is named and `may_read` it. Throws
// Error for what is wrong or not supported.
TableData read_table(const ExternalObject& object,
                     const std::function<double(const Expr&)>& number_of,
                     const std::function<bool(const std::string&)>& may_read, const Place& place);

}  // namespace saltus
