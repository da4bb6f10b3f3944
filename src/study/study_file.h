#pragma once

#include <string>
#include <vector>

#include "study/study.h"

namespace saltus {

// Whether files of this name can be written: .csv always, .h5 and .nc if Saltus was built with
// HDF5. Throws Error that says what would do.
void check_study_file(const std::string& path);

// All runs of a study in one file. As HDF5 it is a data set that xarray, h5py and netCDF tools
// read: dimension `run`; for each varied parameter and each record a variable over it with unit and
// description; `status`, `message`, `modes` (the sequence of modes as text), `events` and
// `end_time`. The file holds neither dates nor durations, so equal studies make equal files.
void write_study(const PreparedStudy& study, const std::vector<StudyRun>& runs,
                 const std::string& path);

}  // namespace saltus
