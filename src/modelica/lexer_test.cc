#include "modelica/lexer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace saltus {
namespace {

std::vector<TokenKind> kinds(std::string_view text) {
  std::vector<TokenKind> result;
  for (const Token& token : tokenize(text).tokens) result.push_back(token.kind);
  return result;
}

// The one error expected in `text`.
LexicalError only_error(std::string_view text) {
  const TokenList list = tokenize(text);
  EXPECT_EQ(list.errors.size(), 1U) << text;
  return list.errors.empty() ? LexicalError{} : list.errors.front();
}

TEST(Lexer, KnowsEveryKeyword) {
  ASSERT_EQ(keywords().size(), kKeywordCount);
  for (std::size_t i = 0; i < kKeywordCount; ++i) {
    const TokenList list = tokenize(keywords()[i]);
    ASSERT_EQ(list.tokens.size(), 2U);
    EXPECT_EQ(list.tokens[0].kind, static_cast<TokenKind>(i)) << keywords()[i];
  }
  EXPECT_EQ(kinds("within"), (std::vector{TokenKind::kWithin, TokenKind::kEndOfFile}));
  EXPECT_EQ(kinds("der"), (std::vector{TokenKind::kDer, TokenKind::kEndOfFile}));
}

TEST(Lexer, KnowsEverySymbol) {
  for (auto kind = static_cast<int>(TokenKind::kLeftParenthesis);
       kind < static_cast<int>(TokenKind::kEndOfFile); ++kind) {
    std::string text = describe(static_cast<TokenKind>(kind));
    text = text.substr(1, text.size() - 2);
    EXPECT_EQ(kinds(text), (std::vector{static_cast<TokenKind>(kind), TokenKind::kEndOfFile}))
        << text;
  }
}

TEST(Lexer, TakesTheLongestSymbol) {
  EXPECT_EQ(kinds("a.*b<>c:=d"),
            (std::vector{TokenKind::kIdentifier, TokenKind::kElementTimes, TokenKind::kIdentifier,
                         TokenKind::kNotEqual, TokenKind::kIdentifier, TokenKind::kAssign,
                         TokenKind::kIdentifier, TokenKind::kEndOfFile}));
}

TEST(Lexer, ReadsAllFormsOfNumbers) {
  for (const char* text : {"0", "42"}) {
    EXPECT_EQ(kinds(text), (std::vector{TokenKind::kInteger, TokenKind::kEndOfFile})) << text;
  }
  for (const char* text : {"1.", "1.5", ".5", "1e3", "1E-3", "1.e+3", ".5e10", "2.25E5"}) {
    EXPECT_EQ(kinds(text), (std::vector{TokenKind::kReal, TokenKind::kEndOfFile})) << text;
  }
}

TEST(Lexer, RefusesAnExponentWithoutDigitsAndANumberGluedToAName) {
  EXPECT_NE(only_error("x = 1e;").message.find("exponent"), std::string::npos);
  EXPECT_EQ(only_error("x = 1e;").column, 6);
  EXPECT_NE(only_error("2x").message.find("product needs '*'"), std::string::npos);
}

TEST(Lexer, DropsCommentsAndAByteOrderMark) {
  const TokenList list = tokenize("\xEF\xBB\xBF// a \"string\n/* b\n * ** / */ x");
  ASSERT_EQ(list.tokens.size(), 2U);
  EXPECT_EQ(list.tokens[0].line, 3);
  EXPECT_EQ(list.tokens[0].column, 12);
  EXPECT_TRUE(list.errors.empty());
}

TEST(Lexer, CountsColumnsInCharacters) {
  const TokenList list = tokenize("\"\xC3\xA4\xE2\x82\xAC\" x");  // two characters in five bytes
  EXPECT_EQ(list.tokens[1].column, 6);
}

TEST(Lexer, KeepsQuotedIdentifiersAndResolvesEscapesOfStrings) {
  const TokenList list = tokenize(R"('a.b \' c' "line\n\"q\" \\ \t")");
  ASSERT_EQ(list.tokens.size(), 3U);
  EXPECT_EQ(list.tokens[0].kind, TokenKind::kIdentifier);
  EXPECT_EQ(list.tokens[0].text, R"('a.b \' c')");
  EXPECT_EQ(string_value(list.tokens[1]), "line\n\"q\" \\ \t");
}

TEST(Lexer, StringsMaySpanLines) {
  const TokenList list = tokenize("\"a\nb\" x");
  EXPECT_EQ(string_value(list.tokens[0]), "a\nb");
  EXPECT_EQ(list.tokens[0].line, 1);
  EXPECT_EQ(list.tokens[0].end_line, 2);
  EXPECT_EQ(list.tokens[1].line, 2);
}

TEST(Lexer, SaysWhereAnUnclosedTextBegan) {
  const LexicalError string = only_error("x\n  \"abc\ny");
  EXPECT_EQ(string.line, 2);
  EXPECT_EQ(string.column, 3);
  EXPECT_EQ(only_error("/* abc").column, 1);
  EXPECT_EQ(only_error("'abc\nx").line, 1);
  EXPECT_EQ(only_error("\"abc\\").line, 1);
}

TEST(Lexer, TranslatesHabitsOfOtherLanguages) {
  EXPECT_NE(only_error("a && b").message.find("use 'and'"), std::string::npos);
  EXPECT_NE(only_error("a || b").message.find("use 'or'"), std::string::npos);
  EXPECT_NE(only_error("a != b").message.find("use '<>'"), std::string::npos);
  EXPECT_NE(only_error("!b").message.find("use 'not'"), std::string::npos);
  EXPECT_EQ(tokenize("a != b").tokens.at(1).kind, TokenKind::kNotEqual);
}

TEST(Lexer, ReportsARowOfStrangeCharactersOnce) {
  EXPECT_EQ(only_error("a ### b").column, 3);
  EXPECT_EQ(only_error("\x01").message, "unexpected byte 0x01");
  EXPECT_EQ(only_error("\xE2\x82\xAC").message, "unexpected character '\xE2\x82\xAC'");
}

}  // namespace
}  // namespace saltus
