#pragma once

namespace saltus {

// The parts of the report page, embedded when the program is built: our style sheet and script
// (output/page), and dygraphs, which draws the curves.
extern const char* const kReportStyle;
extern const char* const kReportScript;
extern const char* const kChartStyle;
extern const char* const kChartScript;

}  // namespace saltus
