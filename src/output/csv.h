#pragma once

#include <string>

#include "simulate/trajectory.h"

namespace saltus {

// One row a stored point: time, then every signal; both sides of an event are two rows of equal
// time. Numbers are the shortest text that reads back as the same double; "nan", "inf", "-inf"
// where not finite. Names are quoted where RFC 4180 asks for it. Throws Error if it cannot be
// written.
void write_csv(const Trajectory& trajectory, const std::string& path);

// The same in pieces, for files that grow with a run: the line of names, and one row from the
// columns of a point.
void append_csv_names(const Trajectory& layout, std::string& text);
void append_csv_row(const Trajectory& layout, double time, const double* columns,
                    std::string& text);

}  // namespace saltus
