#pragma once

namespace saltus {

// The text of fixed_step.h and fixed_step.c, for export_c.
extern const char* const kFixedStepHeader;
extern const char* const kFixedStepSource;

}  // namespace saltus
