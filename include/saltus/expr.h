// Expressions: what equations, guards and values are made of.
#pragma once

#include "expr/expr.h"
