// All of Saltus for programs in C++. The headers beside this one are the public ones; what they
// include from other folders may change from one version to the next.
#pragma once

#include "saltus/expr.h"
#include "saltus/modelica.h"
#include "saltus/output.h"
#include "saltus/result.h"
#include "saltus/simulate.h"
#include "saltus/study.h"
#include "saltus/system.h"
