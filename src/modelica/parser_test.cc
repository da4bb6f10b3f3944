#include "modelica/parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace saltus {
namespace {

// The first class of a text that must be correct.
std::shared_ptr<ClassDefinition> parse_class(const std::string& text) {
  ParseResult result = parse_modelica(text, "test.mo");
  for (const SyntaxError& error : result.errors) {
    ADD_FAILURE() << Error(error.message, error.where).what();
  }
  if (result.definition->classes.empty()) return std::make_shared<ClassDefinition>();
  return result.definition->classes.front();
}

std::string round_trip(const std::string& text) {
  return to_text(*parse_expression(text, "test.mo"));
}

TEST(Parser, BindsOperatorsAsTheGrammarSays) {
  const auto same = [](const char* loose, const char* explicit_text) {
    EXPECT_EQ(round_trip(loose), round_trip(explicit_text)) << loose;
  };
  same("a + b*c^d", "a + (b*(c^d))");
  same("-a^2", "-(a^2)");
  same("-a*b", "-(a*b)");
  same("a - b - c", "(a - b) - c");
  same("a/b*c", "(a/b)*c");
  same("not a == b and c or d", "((not (a == b)) and c) or d");
  same("1:n + 1", "1:(n + 1)");
  same("if a then b else if c then d else e", "if a then b else (if c then d else e)");
}

TEST(Parser, PrintsExpressionsThatReadBackTheSame) {
  for (const char* text : {"a.b[1, :].c",
                           "f(x, y, n = 3)",
                           "sum(x[i] for i in 1:3)",
                           "{1, 2.5, \"q\\\"\"}",
                           "[1, 2; 3, 4]",
                           "{i*j for i in 1:2, j in 1:3}",
                           "if a then 1 elseif b then 2 else 3",
                           "a - (b - c)",
                           "(a + b)*c",
                           "(-a)^2",
                           "a^(b^c)",
                           "not (a and b)",
                           "x[end]",
                           ".A.B(1)",
                           "f(function g(a = 1), 2)",
                           "der(x)",
                           "initial()",
                           "a .* b .^ c",
                           "'strange name'.x",
                           "1e-20",
                           "(a:b):c",
                           "1:2:10",
                           "{}",
                           "-(-a)",
                           "(if a then b else c) + 1"}) {
    const std::string once = round_trip(text);
    EXPECT_EQ(round_trip(once), once) << text;
  }
  EXPECT_EQ(round_trip("a-(b-c)"), "a - (b - c)");
  EXPECT_EQ(round_trip("2.0"), "2.0");
}

TEST(Parser, KeepsKindsOfNumbersApart) {
  EXPECT_NE(parse_expression("3", "t")->as<IntegerLiteral>(), nullptr);
  EXPECT_NE(parse_expression("3.", "t")->as<RealLiteral>(), nullptr);
  const ExpressionPtr large = parse_expression("99999999999999999999", "t");
  ASSERT_NE(large->as<RealLiteral>(), nullptr);
  EXPECT_EQ(large->as<RealLiteral>()->value, 1e20);
}

TEST(Parser, ReadsComponentsWithAllTheirParts) {
  const auto c = parse_class(R"(
    model M
      parameter Real a, b[2](each start = 1, final unit = "m") = {1, 2} "both" annotation(Evaluate = true);
      flow Real[3] t[n];
      inner replaceable Res r if use constrainedby Base(x = 1);
    protected
      discrete output Integer i(start = 0);
      .A.B.C d;
    end M;)");
  ASSERT_EQ(c->components.size(), 6U);
  const Component& b = *c->find_component("b");
  EXPECT_EQ(b.variability, Variability::kParameter);
  EXPECT_EQ(b.comment.text, "both");
  ASSERT_NE(b.comment.annotation, nullptr);
  EXPECT_NE(b.comment.annotation->find("Evaluate"), nullptr);
  ASSERT_EQ(b.modification->arguments.size(), 2U);
  EXPECT_TRUE(b.modification->arguments[0].each);
  EXPECT_TRUE(b.modification->arguments[1].final);
  EXPECT_EQ(to_text(*b.modification->value), "{1, 2}");
  EXPECT_EQ(c->find_component("a")->modification, nullptr);
  const Component& t = *c->find_component("t");
  EXPECT_EQ(t.connection, Connection::kFlow);
  ASSERT_EQ(t.dimensions.size(), 2U);
  EXPECT_EQ(to_text(*t.dimensions[0]), "n");
  EXPECT_EQ(to_text(*t.dimensions[1]), "3");
  const Component& r = *c->find_component("r");
  EXPECT_TRUE(r.inner && r.replaceable);
  EXPECT_EQ(to_text(*r.condition), "use");
  EXPECT_EQ(r.constraint->type.text(), "Base");
  const Component& i = *c->find_component("i");
  EXPECT_EQ(i.visibility, Visibility::kProtected);
  EXPECT_EQ(i.variability, Variability::kDiscrete);
  EXPECT_EQ(i.causality, Causality::kOutput);
  EXPECT_TRUE(c->find_component("d")->type.absolute);
  EXPECT_EQ(i.place.line, 7);
  EXPECT_EQ(i.place.column, 31);
}

TEST(Parser, ReadsAllFormsOfClasses) {
  const auto p = parse_class(R"(
    encapsulated package P "text"
      type Angle = Real(unit = "rad") "angle";
      type E = enumeration(one "1", two);
      type Open = enumeration(:);
      function df = der(f, x, y);
      connector In = input Real[2];
      replaceable partial model Base = Other constrainedby Other(n = 1);
      model extends Inherited(k = 2) "more"
        Real x;
      end Inherited;
      operator record C
        operator function '+' = add;
        operator 'constructor' function f end f; end 'constructor';
      end C;
      expandable connector Bus end Bus;
      impure function g
        input Real x; output Real y;
        external "C" y = c_g(x, size(x, 1)) annotation(Library = "m");
      end g;
      final constant Real k = 1;
    end P;)");
  EXPECT_TRUE(p->encapsulated);
  ASSERT_EQ(p->classes.size(), 10U);
  EXPECT_EQ(p->find_class("Angle")->base.text(), "Real");
  EXPECT_EQ(p->find_class("E")->enumeration.at(0).comment.text, "1");
  EXPECT_TRUE(p->find_class("Open")->open_enumeration);
  EXPECT_EQ(p->find_class("df")->differentiated, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(p->find_class("In")->base_causality, Causality::kInput);
  EXPECT_EQ(p->find_class("In")->dimensions.size(), 1U);
  EXPECT_TRUE(p->find_class("Base")->replaceable && p->find_class("Base")->partial);
  EXPECT_TRUE(p->find_class("Base")->constraint.has_value());
  EXPECT_EQ(p->find_class("Inherited")->form, ClassDefinition::Form::kExtends);
  EXPECT_EQ(p->find_class("C")->kind, ClassKind::kOperatorRecord);
  EXPECT_EQ(p->find_class("Bus")->kind, ClassKind::kExpandableConnector);
  const ClassDefinition& g = *p->find_class("g");
  EXPECT_TRUE(g.impure);
  EXPECT_EQ(g.external->name, "c_g");
  EXPECT_EQ(g.external->result->text(), "y");
  EXPECT_EQ(g.external->arguments.size(), 2U);
  EXPECT_EQ(g.qualified_name(), "P.g");
}

TEST(Parser, ReadsImportsAndExtends) {
  const auto m = parse_class(R"(
    model M
      import A.B.C;
      import D = A.B;
      import A.*;
      import A.{x, y};
      extends Base(redeclare replaceable model N = K(n = 1) constrainedby L, redeclare Res r(R = 1), a.b = 2);
    end M;)");
  ASSERT_EQ(m->imports.size(), 5U);
  EXPECT_EQ(m->imports[0].alias, "C");
  EXPECT_EQ(m->imports[1].alias, "D");
  EXPECT_EQ(m->imports[2].kind, Import::Kind::kUnqualified);
  EXPECT_EQ(m->imports[2].name.text(), "A");
  EXPECT_EQ(m->imports[4].name.text(), "A.y");
  const std::vector<Argument>& arguments = m->extends.at(0).modification->arguments;
  ASSERT_EQ(arguments.size(), 3U);
  EXPECT_EQ(arguments[0].kind, Argument::Kind::kRedeclareClass);
  EXPECT_EQ(arguments[0].definition->base.text(), "K");
  EXPECT_EQ(arguments[0].definition->enclosing, m.get());
  EXPECT_EQ(arguments[1].kind, Argument::Kind::kRedeclareComponent);
  EXPECT_EQ(arguments[1].component->type.text(), "Res");
  EXPECT_EQ(arguments[2].name.text(), "a.b");
}

TEST(Parser, ReadsAllEquations) {
  const auto m = parse_class(R"(
    model M
    initial equation
      x = 0;
    equation
      der(x) = -x "decay";
      (a, , b) = f(x);
      connect(p.n[1], q.p) annotation(Line(points = {{0, 0}, {1, 1}}));
      if c then x = 1; elseif d then x = 2; else x = 3; x = 4; end if;
      for i in 1:3, j loop y[i, j] = 0; end for;
      when sample(0, 1) then reinit(x, 1); elsewhen z then assert(b, "no"); end when;
      transition(s, t, x > 1);
    end M;)");
  ASSERT_EQ(m->equations.size(), 7U);
  EXPECT_EQ(m->initial_equations.size(), 1U);
  EXPECT_EQ(m->equations[0].comment.text, "decay");
  const auto* tuple = m->equations[1].as<SimpleEquation>()->left->as<TupleExpression>();
  ASSERT_NE(tuple, nullptr);
  ASSERT_EQ(tuple->elements.size(), 3U);
  EXPECT_EQ(tuple->elements[1], nullptr);
  EXPECT_EQ(m->equations[2].as<ConnectEquation>()->left.text(), "p.n[1]");
  const auto* branches = m->equations[3].as<ConditionalEquation>();
  ASSERT_EQ(branches->branches.size(), 3U);
  EXPECT_EQ(branches->branches[2].condition, nullptr);
  EXPECT_EQ(branches->branches[2].body.size(), 2U);
  EXPECT_EQ(m->equations[4].as<ForEquation>()->iterators.at(1).range, nullptr);
  EXPECT_EQ(m->equations[5].as<WhenEquation>()->branches.size(), 2U);
  EXPECT_NE(m->equations[6].as<CallEquation>(), nullptr);
}

TEST(Parser, ReadsAllStatements) {
  const auto f = parse_class(R"(
    function f
    algorithm
      x := 1;
      (a, , y[2]) := g(x);
      g(x);
      if x > 0 then return; else x := 0; end if;
      for i in 1:3 loop x := x + i; break; end for;
      while x < 3 loop x := x + 1; end while;
      when c then x := 2; elsewhen d then x := 3; end when;
    algorithm
      x := 2;
    end f;)");
  ASSERT_EQ(f->algorithms.size(), 2U);
  const std::vector<Statement>& s = f->algorithms[0];
  ASSERT_EQ(s.size(), 7U);
  EXPECT_EQ(s[0].as<AssignStatement>()->target.text(), "x");
  EXPECT_EQ(s[1].as<MultipleAssignStatement>()->targets.size(), 3U);
  EXPECT_NE(s[2].as<CallStatement>(), nullptr);
  EXPECT_NE(s[3].as<IfStatement>()->branches[0].body[0].as<ReturnStatement>(), nullptr);
  EXPECT_NE(s[4].as<ForStatement>(), nullptr);
  EXPECT_NE(s[5].as<WhileStatement>(), nullptr);
  EXPECT_NE(s[6].as<WhenStatement>(), nullptr);
}

TEST(Parser, ReadsWithinAndSeveralClasses) {
  const ParseResult result =
      parse_modelica("within A.B; final model M end M; model N end N;", "test.mo");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.definition->within->text(), "A.B");
  ASSERT_EQ(result.definition->classes.size(), 2U);
  EXPECT_TRUE(result.definition->classes[0]->final);
  EXPECT_TRUE(parse_modelica("within;", "test.mo").definition->within.has_value());
}

TEST(Parser, JoinsAnnotationsOfAClass) {
  const auto m =
      parse_class("model M annotation(a = 1); equation x = 1; annotation(b = 2); end M;");
  EXPECT_NE(m->annotation()->find("a"), nullptr);
  EXPECT_NE(m->annotation()->find("b"), nullptr);
}

TEST(Parser, AcceptsAnEmptyFile) {
  EXPECT_TRUE(parse_modelica("", "test.mo").ok());
  EXPECT_TRUE(parse_modelica(" // nothing\n", "test.mo").definition->classes.empty());
}

TEST(Parser, ExpressionErrorsAreLocated) {
  try {
    parse_expression("1 + * 2", "--set");
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.where().column, 5);
    EXPECT_NE(e.message().find("expected an expression, found '*'"), std::string::npos);
  }
  EXPECT_THROW(parse_expression("1 2", "t"), Error);
  EXPECT_THROW(parse_expression("", "t"), Error);
}

}  // namespace
}  // namespace saltus
