#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulate/simulate.h"
#include "study/compiled_model.h"
#include "study/design.h"
#include "study/record.h"

namespace saltus {

// Many runs of one model, each with its own values of some parameters.
struct Study {
  // The model with these settings, which come after all others.
  std::function<TranslatedModel(const Settings&)> translate;
  Design design;
  std::vector<RunRecord> records;
  SimulateOptions options;  // `sink`, `progress` and `stop_requested` are not read
};

// What became of one run.
struct StudyRun {
  bool completed = false;
  std::string status;   // "completed", "terminated" or why it ended early
  std::string message;  // a sentence; what went wrong, where and when
  std::string modes;    // that held, in order: "slipping, locked"
  double time = 0.0;    // reached, s
  std::size_t events = 0;
  double seconds = 0.0;        // processor time
  std::vector<double> values;  // by record; NaN where there is none
};

// A study that has been looked at and can be run: the model is translated once.
class PreparedStudy {
 public:
  // Throws Error if a parameter or a record is not known, before anything runs.
  explicit PreparedStudy(Study study);

  const Study& study() const { return study_; }
  std::size_t runs() const { return study_.design.runs(); }
  // Units and descriptions of the varied parameters.
  const std::vector<SignalInfo>& factors() const { return factors_; }
  const std::string& model() const { return model_.name(); }
  const Experiment& experiment() const { return model_.experiment(); }
  // Whether the model is translated for every run, because a value decides about its structure.
  bool translates_every_run() const { return translates_; }

  // One run. Modes that it has met are kept as they were analysed and compiled, and serve later
  // runs. What a run leaves behind in the model (expressions of its modes) may change the last
  // digits of later ones: see run_block(). One at a time.
  StudyRun run(std::size_t index) const;

  // Runs come in blocks of this size, the last one may be smaller. A block is done by a process of
  // its own that starts from this object as it is, so its results depend on nothing but the study.
  std::size_t block_size() const;
  std::size_t blocks() const { return (runs() + block_size() - 1) / block_size(); }
  // All runs of a block, in a child process that begins with the modes that the start of the first
  // run of the study has met. A run that takes its process with it (a signal) is a
  // failed run. `finished` is told after each run. Pre: the caller has no other threads
  // that hold locks.
  std::vector<StudyRun> run_block(std::size_t block,
                                  const std::function<void(std::size_t)>& finished) const;

 private:
  void warm_up() const;
  StudyRun run(std::size_t index, SimulateOptions options) const;

  Study study_;
  CompiledModel model_;
  std::unique_ptr<CompiledModel::Run> run_;
  mutable bool is_warm_ = false;
  std::vector<SignalInfo> factors_;
  bool translates_ = false;
};

// Bytes that read_runs() reads back.
std::string write_runs(const std::vector<StudyRun>& runs);
std::vector<StudyRun> read_runs(const std::string& bytes);

}  // namespace saltus
