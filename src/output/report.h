#pragma once

#include <string>

#include "simulate/result.h"

namespace saltus {

// One self-contained HTML page (no outside resources) to look at a run: how it ended, plots with
// modes and events, tables of events, modes and work. Readable without scripts; a small script adds
// a cursor with values. Throws Error if it cannot be written.
std::string report_html(const SimulateResult& result);
void write_report(const SimulateResult& result, const std::string& path);

}  // namespace saltus
