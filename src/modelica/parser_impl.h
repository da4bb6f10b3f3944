#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modelica/ast.h"
#include "modelica/lexer.h"
#include "modelica/parser.h"

// Recursive descent over the tokens of one file. Private to parser*.cc.
//
// A function that cannot go on reports and throws Abandoned. The lists (elements, equations,
// statements, arguments of a class) catch it, skip to where the next item starts and go on, so one
// mistake costs one item. Where the text is clear in spite of a mistake (a missing `then` or
// semicolon), it is only reported.

namespace saltus {

class Parser {
 public:
  Parser(std::string_view text, const std::string& file);

  std::shared_ptr<StoredDefinition> stored_definition();
  ExpressionPtr whole_expression();
  std::vector<SyntaxError> take_errors() { return std::move(errors_); }

 private:
  struct Abandoned {};      // an item could not be parsed; it has been reported
  struct TooManyErrors {};  // the limit is reached; parsing ends

  // Deeper nesting of parentheses, classes, branches is refused: the parser recurses.
  static constexpr int kMaxNesting = 200;

  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) {
        --parser_.nesting_;
        parser_.fail_nesting();
      }
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  // A construct whose `end` is still to come.
  struct Open {
    TokenKind kind;    // kIf, kFor, kWhen, kWhile; kClass for any class
    std::string name;  // of a class
    int line;
    bool else_if;  // `else if` was seen directly inside
  };

  class OpenConstruct {
   public:
    OpenConstruct(Parser& parser, Open open) : parser_(parser) {
      parser_.open_.push_back(std::move(open));
    }
    ~OpenConstruct() { parser_.open_.pop_back(); }
    OpenConstruct(const OpenConstruct&) = delete;
    OpenConstruct& operator=(const OpenConstruct&) = delete;

   private:
    Parser& parser_;
  };

  // parser.cc: tokens and errors
  const Token& peek(std::size_t ahead = 0) const;
  const Token& previous() const { return tokens_[position_ == 0 ? 0 : position_ - 1]; }
  bool at(TokenKind kind) const { return tokens_[position_].kind == kind; }
  bool next_is(TokenKind kind) const { return peek(1).kind == kind; }
  const Token& take();
  bool accept(TokenKind kind);
  Place here() const { return place_of(peek()); }
  Place place_of(const Token& token) const { return {file_, token.line, token.column}; }
  void report(int line, int column, std::string message);
  [[noreturn]] void fail(std::string message);
  [[noreturn]] void fail_expected(const std::string& what);
  [[noreturn]] void fail_nesting();
  std::string hint() const;
  const Token& expect(TokenKind kind, std::string_view purpose);
  void expect_soft(TokenKind kind, std::string_view purpose);
  void expect_close(TokenKind kind, const Token& opened);
  void expect_semicolon(const char* after);
  void skip_item();
  std::string identifier(std::string_view purpose);
  Name name();
  std::string string_comment();
  ModificationPtr annotation();
  Comment comment();

  // parser_expression.cc
  ExpressionPtr make(Expression::Value value, Place place);
  ExpressionPtr expression();
  ExpressionPtr if_expression();
  ExpressionPtr simple_expression();
  ExpressionPtr binary(int level);
  ExpressionPtr arithmetic();
  ExpressionPtr term();
  ExpressionPtr factor();
  ExpressionPtr primary();
  ExpressionPtr number();
  ExpressionPtr parenthesised();
  ExpressionPtr matrix();
  ExpressionPtr array();
  ExpressionPtr reference_or_call();
  ExpressionPtr call(ComponentReference function, Place place);
  ExpressionPtr function_argument();
  ExpressionPtr partial_application();
  ComponentReference component_reference();
  std::vector<ExpressionPtr> subscripts();
  std::vector<Iterator> iterators();
  std::vector<NamedArgument> named_arguments();

  // parser_equation.cc
  bool ends_body() const;
  bool skip_stray(std::size_t errors_before);
  void close();
  ExpressionPtr condition(TokenKind word);
  std::vector<Iterator> for_header();
  template <class Body>
  std::vector<Branch<Body>> branches(TokenKind further, bool with_else,
                                     std::vector<Body> (Parser::*body)());
  template <class Item>
  std::vector<Item> items(Item (Parser::*item)(), const char* what);
  std::vector<EquationClause> equation_section();
  std::vector<EquationClause> equation_body();
  EquationClause equation();
  void simple_equation(EquationClause& result);
  ConnectEquation connect_equation();
  std::vector<Statement> algorithm_section();
  std::vector<Statement> statement_body();
  Statement statement();
  void expect_assign();
  void multiple_assignment(Statement& result);
  void assignment_or_call(Statement& result);

  // parser_class.cc
  using ClassHandle = std::shared_ptr<ClassDefinition>;
  struct Prefixes {
    bool redeclare = false;
    bool final = false;
    bool inner = false;
    bool outer = false;
    bool replaceable = false;
    bool each = false;
    Place place;
  };

  bool starts_class() const;
  Prefixes prefixes();
  ClassHandle class_definition(const Prefixes& given, bool short_only = false);
  void class_prefixes(ClassDefinition& c);
  void long_class(ClassDefinition& c);
  void short_class(ClassDefinition& c);
  void enumeration(ClassDefinition& c);
  void derivative_class(ClassDefinition& c);
  void composition(ClassDefinition& c);
  void section(ClassDefinition& c, TokenKind kind, bool initial, Visibility& visibility);
  bool misspelt_section(ClassDefinition& c, Visibility& visibility);
  void element(ClassDefinition& c, Visibility visibility);
  void import_clause(ClassDefinition& c);
  void extends_clause(ClassDefinition& c, Visibility visibility);
  void external_clause(ClassDefinition& c);
  void class_annotation(ClassDefinition& c);
  void end_of_class(ClassDefinition& c);
  void check_unique(const ClassDefinition& c);
  Component component_prefix(const Prefixes& given);
  bool component_prefix_word(Component& component, TokenKind kind);
  void type_of(Component& component);
  void component_clause(ClassDefinition& c, const Prefixes& given, Visibility visibility);
  void declaration(Component& component);
  std::optional<ConstrainingClause> constraint();
  ModificationPtr class_modification();
  ModificationPtr modification();
  Argument argument();
  void redeclaration(Argument& argument, const Prefixes& given);

  const std::string* file_;
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  std::vector<SyntaxError> errors_;
  std::vector<Open> open_;
  ClassDefinition* enclosing_ = nullptr;
  int nesting_ = 0;
  // From here on a string or comment that is not closed runs to the end.
  int unclosed_line_ = std::numeric_limits<int>::max();
};

}  // namespace saltus
