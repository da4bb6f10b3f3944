#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/expr.h"

namespace saltus {

// What a name in an expression stands for; throws Error if it is none.
using NameResolver = std::function<Expr(const std::string& name)>;
// What a call stands for that is no function of scalars, f(x) with f of mathematics; the arguments
// are given as text too. The number NaN with no node: it is not known either.
using CallResolver =
    std::function<bool(const std::string& function, const std::vector<Expr>& arguments, Expr& out)>;

// An expression as a person writes it: numbers, names (with dots, subscripts and der(...)), + - * /
// ^, comparisons, and, or, not, if a then b else c, parentheses and the functions of expr.h.
// `resolve_call` is asked first for every call. Throws Error that shows the text and the place.
Expr parse_expression(std::string_view text, const NameResolver& resolve_name,
                      const CallResolver& resolve_call = {});

// "left = right" or "left == right".
Equality parse_equation(std::string_view text, const NameResolver& resolve_name,
                        const CallResolver& resolve_call = {});

}  // namespace saltus
