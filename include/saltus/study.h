// Many runs of one model, linear models, equilibria, and fits to measurements.
#pragma once

#include "study/compiled_model.h"
#include "study/fit.h"
#include "study/linearize.h"
#include "study/steady.h"
#include "study/study.h"
