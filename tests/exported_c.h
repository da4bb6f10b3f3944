#pragma once

#include <gtest/gtest.h>

#include <string>

#include "model/system.h"
#include "realtime/realtime_engine.h"

namespace saltus {

// Exports a model, compiles it as C99 without a warning and with these flags besides, and runs it
// beside the engine: status, time and outputs must be the same in every sample, to the last bit.
// `events`: samples that had one.
testing::AssertionResult runs_as_exported(const HybridSystem& system,
                                          const RealtimeOptions& options, int samples,
                                          const std::string& flags, int& events);

}  // namespace saltus
