#pragma once

#include <string>

#include "simulate/trajectory.h"

namespace saltus {

// The MATLAB level 4 result file that Dymola and OpenModelica write ("Atrajectory" 1.1, binTrans),
// so that their plot windows, DyMat, OMPython and buildingspy read it:
//   Aclass, name, description ("text [unit]"), dataInfo, data_1 (time and parameters at the first
//   and last point), data_2 (time and signals at every point).
// Throws Error if it cannot be written or exceeds what the format can count.
void write_mat(const Trajectory& trajectory, const std::string& path);

}  // namespace saltus
