#include "base/error.h"

#include <fmt/format.h>

#include <utility>

namespace saltus {
namespace {

std::string located(const std::string& message, const SourceLocation& where) {
  if (where.file.empty()) return message;
  return fmt::format("{}:{}:{}: error: {}", where.file, where.line, where.column, message);
}

}  // namespace

Error::Error(const std::string& message, SourceLocation where)
    : std::runtime_error(located(message, where)), message_(message), where_(std::move(where)) {}

}  // namespace saltus
