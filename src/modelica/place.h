#pragma once

#include <string>

#include "base/error.h"

namespace saltus {

// Where a node of the syntax tree stands: 16 bytes, cheap to copy. `file` is interned
// (intern_file) and lives as long as the program, so a Place never dangles. Lines and columns count
// from 1; columns count characters, not bytes.
struct Place {
  const std::string* file = nullptr;
  int line = 0;
  int column = 0;

  SourceLocation location() const {
    return file == nullptr ? SourceLocation{} : SourceLocation{*file, line, column};
  }
};

// The one stored copy of a file name.
const std::string* intern_file(const std::string& path);

}  // namespace saltus
