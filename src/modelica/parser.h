#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "modelica/ast.h"

namespace saltus {

// Something wrong in a source text.
struct SyntaxError {
  SourceLocation where;
  std::string message;
};

struct ParseResult {
  std::shared_ptr<StoredDefinition> definition;  // what could be understood; never null
  std::vector<SyntaxError> errors;  // in the order of the text; at most kMaxSyntaxErrors

  bool ok() const { return errors.empty(); }
};

inline constexpr int kMaxSyntaxErrors = 20;

// Parses one file of Modelica 3.5. Never throws for wrong text: it reports, skips to where it can
// go on, and reports what else is wrong. `file` is the name for messages.
ParseResult parse_modelica(std::string_view text, const std::string& file);

// Parses a single expression, such as the value of --set. Throws Error.
ExpressionPtr parse_expression(std::string_view text, const std::string& file);

// All errors as one Error: located at the first, further ones on lines of their own.
Error to_error(const std::vector<SyntaxError>& errors);

}  // namespace saltus
