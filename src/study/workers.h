#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "study/study.h"

namespace saltus {

struct WorkOptions {
  std::size_t jobs = 1;  // processes of this machine that work at once
  std::string journal;   // folder; see journal.h
  bool resume = false;   // go on with what the journal has
  // Says which study it is; a journal of another one is refused. The values of the runs and the
  // records are added by themselves.
  std::string identity;
  // One of several equal programs, started together (by mpirun, srun): number 0 begins the study
  // and writes its result, the others help. `session` is the same for those started together.
  std::size_t rank = 0;
  std::size_t ranks = 1;
  std::string session;
  // Polled; the study ends with what is filed when it becomes true.
  const std::atomic<bool>* stop_requested = nullptr;
  // Called several times a second with the number of runs that are done, of all of them.
  std::function<void(std::size_t done)> progress = {};
};

// Runs a study with worker processes. The results are in order of the runs and do not depend on the
// number of workers. Empty: it was interrupted, or this is not rank 0; the journal has what is
// done. Throws Error if the journal is one of another study, or is there and `resume` is not said.
std::vector<StudyRun> run_study(const PreparedStudy& study, const WorkOptions& options);

// When the result is written: what was done is not needed any more.
void remove_journal(const WorkOptions& options);

// From the environment that mpirun and srun give to what they start.
void find_rank(WorkOptions& options);

}  // namespace saltus
