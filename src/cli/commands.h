#pragma once

#include <CLI/CLI.hpp>

namespace saltus {

// Exit status of the program.
inline constexpr int kReached = 0;     // the stop time, or the model ended the run
inline constexpr int kStopped = 1;     // early; results up to there are kept
inline constexpr int kWrongInput = 2;  // nothing was integrated

// Each adds its subcommand to the program; when it has been parsed, its exit status is in `status`.
// They throw Error for wrong input.
void add_simulate_command(CLI::App& program, int& status);
void add_analyze_command(CLI::App& program, int& status);
void add_check_command(CLI::App& program, int& status);
void add_compare_command(CLI::App& program, int& status);
void add_sweep_command(CLI::App& program, int& status);
void add_linearize_command(CLI::App& program, int& status);
void add_frequency_command(CLI::App& program, int& status);
void add_steady_command(CLI::App& program, int& status);
void add_fit_command(CLI::App& program, int& status);
void add_serve_command(CLI::App& program, int& status);
void add_realtime_command(CLI::App& program, int& status);
void add_springs_command(CLI::App& program, int& status);
void add_collisions_command(CLI::App& program, int& status);
void add_delta_command(CLI::App& program, int& status);
void add_studio_command(CLI::App& program, int& status);
void add_examples_command(CLI::App& program, int& status);
void add_help_command(CLI::App& program, int& status);

}  // namespace saltus
