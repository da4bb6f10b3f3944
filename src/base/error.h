#pragma once

#include <stdexcept>
#include <string>

namespace saltus {

// Where a piece of input came from. An empty file means "not from a file"; line and column count
// from 1.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
};

// Wrong input: a malformed model, an impossible option, a file that cannot be read. Thrown before
// integration starts. Numerical outcomes are values (StopReason), not exceptions.
//
// what() reads "file:line:column: error: message", or just the message when no location is known.
// Messages name the thing concerned and say what to do about it.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, SourceLocation where = {});

  const std::string& message() const { return message_; }
  const SourceLocation& where() const { return where_; }

 private:
  std::string message_;
  SourceLocation where_;
};

}  // namespace saltus
