#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "expr/function.h"
#include "expr/table.h"
#include "modelica/table_curve.h"
#include "modelica/value.h"

namespace saltus {

class TimeTable;

// The numbers behind a CombiTable1D, CombiTable2D or CombiTimeTable, and lookups as expressions.
class TableData {
 public:
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> columns;  // from 0, in the order of icol
  Smoothness smoothness = Smoothness::kLinear;
  Beyond beyond = Beyond::kLastTwoPoints;
  // Of time tables: the value is zero before the first, the second is added to the abscissae, and
  // the last says where events are (in the numbers of Modelica.Blocks.Types.TimeEvents).
  double start_time = 0.0;
  double shift_time = 0.0;
  int time_events = 1;
  std::string name;

  double first() const { return rows.front().front(); }
  double last() const { return rows.back().front(); }
  double corner(bool greatest, int axis) const;

  // Column icol (from 1) at u, or a derivative of it.
  Expr value(std::size_t icol, const Expr& u, int order, const Place& place);
  // A two-dimensional table, or a partial derivative of it.
  Expr value2(const Expr& u1, const Expr& u2, int order1, int order2);
  // A time table: `next` is the next time event, which bounds the interval in use.
  Expr time_value(std::size_t icol, const Expr& time, const Expr& next, int order,
                  const Place& place);
  Expr next_event(const Expr& time);

 private:
  void require_column(std::size_t icol, const Place& place) const;
  std::vector<double> abscissae() const;
  std::vector<double> ordinates(std::size_t icol) const;
  void make_time_table();

  std::vector<std::shared_ptr<const Table>> linear_;  // by icol
  std::vector<std::shared_ptr<const Function>> curves_, timed_;
  std::shared_ptr<const Function> surface_, next_;
  std::shared_ptr<const TimeTable> time_table_;
};

// Reads the arguments of the constructor, and the file if one is named and `may_read` it. Throws
// Error for what is wrong or not supported.
TableData read_table(const ExternalObject& object,
                     const std::function<double(const Expr&)>& number_of,
                     const std::function<bool(const std::string&)>& may_read, const Place& place);

}  // namespace saltus
