#pragma once

#include <string>
#include <vector>

#include "modelica/place.h"

namespace saltus {

// The matrix `table` of a text file that starts with "#1": blocks "double name(rows,columns)" and
// numbers. Throws Error if the file cannot be read, is of another format or has no such table.
std::vector<std::vector<double>> read_table_file(const std::string& file, const std::string& table,
                                                 const Place& place);

}  // namespace saltus
