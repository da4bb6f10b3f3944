#pragma once

#include <string>

#include "simulate/result.h"

namespace saltus {

// One signal over time in characters, for a terminal: braille dots in a frame of `width` x `height`
// characters with the ends of both axes as numbers, and below it a line that marks the events.
// Throws Error with the nearest name if there is no such signal.
std::string terminal_plot(const SimulateResult& result, const std::string& signal, int width = 72,
                          int height = 12);

}  // namespace saltus
