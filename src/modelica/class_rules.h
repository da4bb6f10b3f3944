#pragma once

#include "modelica/ast.h"

namespace saltus {

// What the text of a class may hold, by its kind: sections, prefixes, visibility, names, and where
// `when`, `break`, `return` and connections may stand (Modelica 3.6, chapters 4, 6, 8, 9, 11, 12).
// Looks at this class only, not at what it inherits or contains. Throws Error.
void check_class_rules(const ClassDefinition& definition);

// Whether a class of the one kind may inherit from a class of the other (section 7.1.3).
bool may_extend(ClassKind derived, ClassKind base);

}  // namespace saltus
