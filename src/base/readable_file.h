#pragma once

#include <filesystem>

#include "base/error.h"

namespace saltus {

// Throws Error if there is something of that name that is no file: a pipe or a device may never end
// and may never begin. Links are followed.
void require_file(const std::filesystem::path& path, const SourceLocation& where = {});

}  // namespace saltus
