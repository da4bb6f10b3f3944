#pragma once

#include <string>

#include "simulate/result.h"

namespace saltus {

// One self-contained HTML page (no outside resources) to look at a run: how it ended, tables of
// events, modes and work, and plots in which every signal can be found, zoomed and compared with
// another run. The tables are readable without scripts. `command` is shown as the way to make the
// run again. write_report throws Error if the page cannot be written.
std::string report_html(const SimulateResult& result, const std::string& command = {});
void write_report(const SimulateResult& result, const std::string& path,
                  const std::string& command = {});

}  // namespace saltus
