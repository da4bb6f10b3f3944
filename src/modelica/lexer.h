#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modelica/place.h"

namespace saltus {

// Keywords are in alphabetic order, so that the spelling of one is found by its number.
enum class TokenKind : std::uint8_t {
  kAlgorithm,
  kAnd,
  kAnnotation,
  kBlock,
  kBreak,
  kClass,
  kConnect,
  kConnector,
  kConstant,
  kConstrainedby,
  kDer,
  kDiscrete,
  kEach,
  kElse,
  kElseif,
  kElsewhen,
  kEncapsulated,
  kEnd,
  kEnumeration,
  kEquation,
  kExpandable,
  kExtends,
  kExternal,
  kFalse,
  kFinal,
  kFlow,
  kFor,
  kFunction,
  kIf,
  kImport,
  kImpure,
  kIn,
  kInitial,
  kInner,
  kInput,
  kLoop,
  kModel,
  kNot,
  kOperator,
  kOr,
  kOuter,
  kOutput,
  kPackage,
  kParameter,
  kPartial,
  kProtected,
  kPublic,
  kPure,
  kRecord,
  kRedeclare,
  kReplaceable,
  kReturn,
  kStream,
  kThen,
  kTrue,
  kType,
  kWhen,
  kWhile,
  kWithin,  // the last keyword
  kIdentifier,
  kInteger,
  kReal,
  kString,
  kLeftParenthesis,
  kRightParenthesis,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kComma,
  kSemicolon,
  kColon,
  kAssign,
  kDot,
  kEqual,
  kEqualEqual,
  kLess,
  kLessEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kPlus,
  kMinus,
  kTimes,
  kDivide,
  kPower,
  kElementPlus,
  kElementMinus,
  kElementTimes,
  kElementDivide,
  kElementPower,
  kEndOfFile,
};

inline constexpr std::size_t kKeywordCount = static_cast<std::size_t>(TokenKind::kWithin) + 1;

struct Token {
  TokenKind kind = TokenKind::kEndOfFile;
  int line = 0;
  int column = 0;
  int end_line = 0;  // of its last character; strings may span lines
  int end_column = 0;
  std::string_view text;  // as written, quotes included; a view of the source text
};

struct LexicalError {
  int line = 0;
  int column = 0;
  std::string message;
};

struct TokenList {
  std::vector<Token> tokens;  // ends with kEndOfFile
  std::vector<LexicalError> errors;
  bool unclosed = false;  // a string or comment runs to the end of the text
};

// Splits a text into tokens; comments and a byte order mark are dropped, wrong characters reported
// and skipped. The tokens view `text`.
TokenList tokenize(std::string_view text);

bool is_keyword(TokenKind kind);
// "model", "';'", "an identifier": how a message names the kind.
std::string describe(TokenKind kind);
// "'x'" or "the end of the file": how a message names what is there.
std::string describe(const Token& token);
// Keywords, in alphabetic order.
const std::vector<std::string>& keywords();

// The characters a string token stands for: without quotes, escapes resolved.
std::string string_value(const Token& token);

}  // namespace saltus
