#pragma once

#include <string>
#include <vector>

#include "modelica/place.h"

namespace saltus {

// A real matrix of a MATLAB file (levels 4, 6, 7 and 7.3), row by row.
struct FileMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> numbers;
};

bool is_matrix_file(const std::string& file);

// Throws Error at `place` if there is no such file or matrix, or none of real numbers. A matrix in
// a structure is named by its path: "s.a.matrix".
FileMatrix read_matrix_file(const std::string& file, const std::string& name, const Place& place);

}  // namespace saltus
