#pragma once

#include <string>
#include <vector>

#include "modelica/place.h"

namespace saltus {

// The numbers of a table and the line of the file each row begins in, if it has lines.
struct FileTable {
  std::vector<std::vector<double>> rows;
  std::vector<int> lines;
};

// Reads a table by its name from a file in the text form of the Modelica Standard Library, or from
// a MATLAB file. Throws Error with file and line for what is wrong there, with `place` if there is
// no such file or table.
FileTable read_table_file(const std::string& file, const std::string& table, const Place& place);

// The same from comma-separated values: all lines after `header_lines`.
FileTable read_table_csv(const std::string& file, const std::string& delimiter, int header_lines,
                         const Place& place);

}  // namespace saltus
