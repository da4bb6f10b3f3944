#pragma once

#include <memory>
#include <string>
#include <vector>

namespace saltus {

// A file of named series of numbers. Failures throw Error naming the path.
class SeriesFile {
 public:
  SeriesFile() = default;
  virtual ~SeriesFile() = default;
  SeriesFile(const SeriesFile&) = delete;
  SeriesFile& operator=(const SeriesFile&) = delete;
  virtual std::vector<std::string> names() const = 0;
  // Pre: one of the names.
  virtual std::vector<double> values(const std::string& name) = 0;
};

std::unique_ptr<SeriesFile> open_mat(const std::string& path);
std::unique_ptr<SeriesFile> open_hdf5(const std::string& path);

}  // namespace saltus
