#pragma once

#include "modelica/instance.h"

namespace saltus {

// What a component may be, given its type, its prefixes and what it is an element of (Modelica 3.6,
// sections 4.4, 4.7, 9.3). Throws Error. Pre: it is resolved and has its type.
void check_component(const Instance& instance);

// An outer component and the inner one it stands for fit: no modification, a type that has what the
// outer one declares. Throws Error. Pre: both are resolved.
void check_outer(const Instance& outer, const Instance& inner);

bool have_same_literals(const ClassDefinition& a, const ClassDefinition& b);  // enumerations

// Why a type cannot stand where another was promised: an element that is missing or of another
// predefined type, other dimensions; empty: it can.
std::string misfit(const TypeRef& given, const TypeRef& promised);

// A component that a class declares although it inherits one of that name. Throws Error unless both
// say the same.
void check_same_component(const Component& inherited, const Component& own);

// Whether two classes are plainly the same: short ones of one base, or with the same components and
// nothing else.
bool say_the_same(const ClassDefinition& a, const ClassDefinition& b);

}  // namespace saltus
