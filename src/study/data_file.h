#pragma once

#include <string>
#include <vector>

#include "model/input_data.h"

// Columns of measured values over time from files: tables as text (.csv, .tsv, .txt), MATLAB (.mat:
// vectors, or trajectories as Saltus and Dymola write them) and HDF5 (.h5, .hdf5, .nc: data sets of
// one dimension). The times are the column `time`, `Time` or `t`; of a text without one, the first.

namespace saltus {

struct DataColumns {
  std::vector<std::string> names;
  std::vector<double> times;                // s
  std::vector<std::vector<double>> values;  // by name; NaN: an empty cell
  std::vector<int> lines;                   // of a text: that of each row
};

bool is_data_file(const std::string& path);  // by the end of its name

// These columns; none named: all but the times. Throws Error that names the file, and the line of a
// text, for what cannot be read, is no finite number, or is a time that decreases.
DataColumns read_columns(const std::string& path, const std::vector<std::string>& names);

// "FILE:COLUMN" or "FILE:COLUMN:hold" (linear, spline), as of --input NAME=...; false: `text` is
// something else. Throws Error as read_columns(), and where a value is missing.
bool read_input_data(const std::string& text, InputData& data);

}  // namespace saltus
