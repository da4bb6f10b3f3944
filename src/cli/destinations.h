#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulate/result.h"

namespace saltus {

// Where the results of a run go. Empty: not wanted.
struct Destinations {
  std::string folder;                // <folder>/<model>.<format>
  std::vector<std::string> formats;  // "csv", "mat", "h5"
  std::string report;                // HTML
  std::string json;                  // "-": standard output
};

// What the user typed, for the report. Called once, before a command runs.
void remember_command(std::span<const char* const> words);

// Throws Error if something could not be written there, so that a long run fails before it starts
// and not after it.
void check_writable(const Destinations& to);

// One text to a file, whose folder is made if it is missing, or to standard output ("-"). Throws
// Error.
void write_text(const std::string& text, const std::string& path);

// Writes report and summary where they are wanted, makes folders that are missing, and goes on
// after a failure so that one full disk does not cost the other file. Appends the paths written and
// the failures, one sentence each. The points have been written during the run.
void write_summaries(const SimulateResult& result, const Destinations& destinations,
                     std::vector<std::string>& written, std::vector<std::string>& failures);

// The same with the points of a run that kept them.
void write_results(const SimulateResult& result, const Destinations& destinations,
                   std::vector<std::string>& written, std::vector<std::string>& failures);

}  // namespace saltus
