#pragma once

#include <filesystem>
#include <string>

namespace saltus {

// The files that a model itself writes (Streams.print into a file): all of them below one folder,
// whatever name the model gives.
class ModelFiles {
 public:
  explicit ModelFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Throws Error if the name, with links and '..' resolved, leads out of the folder.
  std::filesystem::path place_of(const std::string& name) const;

  // A line at the end of the file, which is made if it is missing. Throws Error with the path and
  // the system's reason.
  void append(const std::string& name, const std::string& line) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace saltus
