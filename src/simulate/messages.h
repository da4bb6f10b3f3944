#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/tape.h"
#include "model/build.h"
#include "model/system_state.h"

namespace saltus {

// What a flat model says during a run: texts with values in them, and what it prints.
class Messages {
 public:
  // Keeps a reference. Pre: the system has a flat model.
  explicit Messages(const HybridSystem& system);

  // The text with the values its placeholders have now.
  std::string filled(const std::string& text, double t, const SystemState& state);

  // Hands over what has come to be printed since the last call: text and file, which is empty for
  // standard output.
  using Printer = std::function<void(const std::string& text, const std::string& file)>;
  void print(double t, const SystemState& state, const Printer& printer);

 private:
  const FlatModel& model_;
  Tape tape_;
  Tape::Workspace registers_;
  std::vector<double> parameters_;
  std::vector<double> values_;   // of the texts
  std::vector<double> printed_;  // by printing: how often
};

}  // namespace saltus
