#pragma once

#include <cstddef>
#include <string>

#include "simulate/trajectory.h"

namespace saltus {

// The MATLAB level 4 result file that Dymola and OpenModelica write ("Atrajectory" 1.1, binTrans),
// so that their plot windows, DyMat, OMPython and buildingspy read it:
//   Aclass, name, description ("text [unit]"), dataInfo, data_1 (time and parameters at the first
//   and last point), data_2 (time and signals at every point).
// Throws Error if it cannot be written or exceeds what the format can count.
void write_mat(const Trajectory& trajectory, const std::string& path);

// The same in pieces, for files that grow with a run: all that comes before the points, which are
// the last thing in the file, with the places of the two numbers that change as they come.
struct MatHeader {
  std::string bytes;
  std::size_t names_end = 0;    // up to here it depends on names, units and texts only
  std::size_t stop_time = 0;    // offset of a double: time of the last point
  std::size_t point_count = 0;  // offset of a 32-bit integer
};
MatHeader mat_header(const Trajectory& layout, double start_time);
void append_mat_point(const Trajectory& layout, double time, const double* columns,
                      std::string& bytes);
std::string mat_count(std::size_t points);  // the integer; throws Error beyond what it holds

}  // namespace saltus
