#include "base/readable_file.h"

#include <fmt/format.h>

#include <system_error>

namespace saltus {

namespace fs = std::filesystem;

void require_file(const fs::path& path, const SourceLocation& where) {
  std::error_code problem;
  const fs::file_type type = fs::status(path, problem).type();
  if (type == fs::file_type::directory)
    throw Error(fmt::format("'{}' is a folder: give a file", path.string()), where);
  if (type != fs::file_type::regular && type != fs::file_type::not_found &&
      type != fs::file_type::none)
    throw Error(fmt::format("'{}' is a pipe or a device: give a file", path.string()), where);
}

}  // namespace saltus
