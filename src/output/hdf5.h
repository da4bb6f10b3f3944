#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "simulate/trajectory.h"

namespace saltus {

// A result in one compressed HDF5 file, laid out as netCDF-4 does: `time` is the dimension, every
// signal a variable over it with its unit and description; signals that are always equal share
// their data, constants and parameters are scalars. xarray, h5py, MATLAB and ncdump read it.

// Rows of points: time, then layout.width() columns.
struct PointRows {
  std::size_t count = 0;
  // Rows [first, first + n) one behind the other; valid until the next call.
  std::function<std::span<const double>(std::size_t first, std::size_t n)> read;
};

// Writes <path>.partial-<process> and returns its name: it is for the caller to rename. Takes
// bounded memory whatever the number of points.
std::string write_hdf5_partial(const Trajectory& layout, const PointRows& rows,
                               const std::string& model, const std::string& path);
// Whether the file at `path` holds other names than the layout, or is no result at all.
bool hdf5_differs(const Trajectory& layout, const std::string& path);

void write_hdf5(const Trajectory& trajectory, const std::string& model, const std::string& path);

}  // namespace saltus
