#pragma once

#include <string>

#include "realtime/realtime_engine.h"

namespace saltus {

// A prepared model as C99 for a user's own target: one header, one source that contains the engine
// (fixed_step.h, fixed_step.c), the formulas and all tables as constants. It needs libm, no heap.
struct CExport {
  std::string name;  // of the functions, and of the files NAME.h and NAME.c
  std::string header;
  std::string source;
};

// Throws Error naming the function if the model calls one that is not known as formulas.
CExport export_c(const RealtimeEngine& engine);

}  // namespace saltus
