// for i loop: the range of an iterator follows from the arrays it is a subscript of.

#include <fmt/format.h>

#include "base/error.h"
#include "modelica/flattener.h"

namespace saltus {
namespace {

using Visit = std::function<void(const Expression&)>;

void visit_expressions(const std::vector<EquationClause>& equations, const Visit& visit);

void visit_expressions(const EquationClause& e, const Visit& visit) {
  if (const auto* s = e.as<SimpleEquation>()) {
    visit(*s->left);
    visit(*s->right);
  } else if (const auto* f = e.as<ForEquation>()) {
    visit_expressions(f->body, visit);
  } else if (const auto* c = e.as<CallEquation>()) {
    visit(*c->call);
  } else if (const auto* k = e.as<ConnectEquation>()) {
    visit(*make_expression(k->left, e.place));
    visit(*make_expression(k->right, e.place));
  } else {
    const auto* i = e.as<ConditionalEquation>();
    for (const auto& branch : i != nullptr ? i->branches : e.as<WhenEquation>()->branches) {
      if (branch.condition != nullptr) visit(*branch.condition);
      visit_expressions(branch.body, visit);
    }
  }
}

void visit_expressions(const std::vector<EquationClause>& equations, const Visit& visit) {
  for (const EquationClause& e : equations) visit_expressions(e, visit);
}

void visit_expressions(const std::vector<Statement>& statements, const Visit& visit) {
  for (const Statement& s : statements) {
    if (const auto* a = s.as<AssignStatement>()) {
      visit(*make_expression(a->target, s.place));
      visit(*a->value);
    } else if (const auto* m = s.as<MultipleAssignStatement>()) {
      for (const ExpressionPtr& t : m->targets)
        if (t != nullptr) visit(*t);
      visit(*m->call);
    } else if (const auto* c = s.as<CallStatement>()) {
      visit(*c->call);
    } else if (const auto* i = s.as<IfStatement>()) {
      for (const auto& branch : i->branches) {
        if (branch.condition != nullptr) visit(*branch.condition);
        visit_expressions(branch.body, visit);
      }
    } else if (const auto* f = s.as<ForStatement>()) {
      visit_expressions(f->body, visit);
    } else if (const auto* w = s.as<WhileStatement>()) {
      visit(*w->condition);
      visit_expressions(w->body, visit);
    } else if (const auto* n = s.as<WhenStatement>()) {
      for (const auto& branch : n->branches) visit_expressions(branch.body, visit);
    }
  }
}

}  // namespace

void Flattener::IteratorBody::for_each(const Visit& visit) const {
  if (expression != nullptr) visit(*expression);
  if (equations != nullptr) visit_expressions(*equations, visit);
  if (statements != nullptr) visit_expressions(*statements, visit);
}

// Every array that the iterator alone is a subscript of has the same size there.
Value Flattener::implicit_range(const Iterator& iterator, const Scope& scope,
                                const IteratorBody& body) {
  std::optional<Value> range;
  Place first = iterator.place;
  const auto note = [&](const Value& found, const Place& place) {
    if (!range) {
      range = found;
      first = place;
      return;
    }
    if (range->count() != found.count() || range->type != found.type)
      throw Error(fmt::format("'{}' has no range of its own and is a subscript of arrays of "
                              "different size: {} in line {} and {} here",
                              iterator.name, range->count(), first.line, found.count()),
                  place.location());
  };
  const Visit visit = [&](const Expression& e) {
    const auto* r = e.as<ComponentReference>();
    for (std::size_t p = 0; r != nullptr && p < r->parts.size(); ++p)
      for (std::size_t k = 0; k < r->parts[p].subscripts.size(); ++k) {
        const auto* name = r->parts[p].subscripts[k]->as<ComponentReference>();
        if (name == nullptr || name->text() != iterator.name) continue;
        ComponentReference array = *r;
        array.parts.resize(p + 1);
        array.parts[p].subscripts.clear();
        // Elements of arrays of components are alike: the first stands for the others.
        for (std::size_t q = 0; q < p; ++q)
          for (ExpressionPtr& s : array.parts[q].subscripts)
            s = make_expression(IntegerLiteral{1}, e.place);
        note(subscript_range(array, k, scope, e.place), e.place);
      }
    for_each_child(e, visit);
  };
  body.for_each(visit);
  if (!range)
    throw Error(fmt::format("'{}' has no range and is no subscript of an array, which would give "
                            "it one",
                            iterator.name),
                iterator.place.location());
  return *range;
}

// The values that subscript k of an array runs through.
Value Flattener::subscript_range(const ComponentReference& array, std::size_t k, const Scope& scope,
                                 const Place& place) {
  // The variables of an algorithm stand for components, which know what their dimensions are.
  const Found found = tree_.lookup(array.parts.front().name, scope, true);
  Dimensions size;
  if (found.instance != nullptr) {
    Instance* at = found.instance;
    for (std::size_t p = 0;; ++p) {
      resolve(*at);
      if (at->target != nullptr) at = at->target;
      if (p + 1 == array.parts.size()) break;
      if (!dimensions(*at).empty()) {
        make_elements(*at);
        if (at->elements.empty()) return Value::array(BasicType::kInteger, {0}, {});
        at = at->elements.front().get();
      }
      at = &child(*at, array.parts[p + 1].name, array.parts[p + 1].place);
    }
    size = dimensions(*at);
    // An array with one element for each value of a type is indexed by these values.
    const std::vector<ExpressionPtr>& given = at->component->dimensions;
    if (k < given.size() && given[k]->as<ComponentReference>() != nullptr) {
      Value of_type = evaluate(*given[k], {at->parent, at->owner, nullptr});
      if (!of_type.is_scalar()) return of_type;
    }
  } else {
    size = reference(array, scope, place).dimensions;
  }
  if (k >= size.size())
    throw Error(fmt::format("'{}' is {} but has {} subscripts", array.text(), to_text(size), k + 1),
                place.location());
  std::vector<Expr> numbers;
  for (std::size_t i = 0; i < size[k]; ++i) numbers.emplace_back(static_cast<double>(i + 1));
  return Value::array(BasicType::kInteger, {size[k]}, std::move(numbers));
}

}  // namespace saltus
