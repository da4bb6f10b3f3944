#include "output/model_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace saltus {

namespace fs = std::filesystem;

fs::path ModelFiles::place_of(const std::string& name) const {
  std::error_code problem;
  const fs::path inside = fs::weakly_canonical(fs::absolute(folder_), problem);
  fs::path place = fs::weakly_canonical(inside / name, problem);
  const auto [left, rest] = std::mismatch(inside.begin(), inside.end(), place.begin(), place.end());
  if (problem || name.empty() || name.find('\0') != std::string::npos || left != inside.end() ||
      rest == place.end() || fs::is_symlink(fs::symlink_status(place, problem)))
    throw Error(
        fmt::format("the model may write only below '{}', not to '{}': give a name without "
                    "'/' at its beginning and without '..'",
                    folder_.string(), name));
  return place;
}

void ModelFiles::append(const std::string& name, const std::string& line) const {
  const fs::path place = place_of(name);
  const auto fail = [&](int reason) {
    throw Error(fmt::format("cannot write to '{}': {}", place.string(), std::strerror(reason)));
  };
  std::error_code problem;
  fs::create_directories(place.parent_path(), problem);
  if (problem) fail(problem.value());
  // Neither a link nor a pipe that somebody planted since.
  const int file = open(place.c_str(),
                        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (file < 0) fail(errno);
  struct stat about {};
  const bool is_file = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  const std::string text = line + "\n";
  std::size_t done = 0;
  int reason = is_file ? 0 : EINVAL;
  while (reason == 0 && done < text.size()) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) reason = errno;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (close(file) != 0 && reason == 0) reason = errno;
  if (reason != 0) fail(reason);
}

}  // namespace saltus
