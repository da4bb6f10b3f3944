#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "study/design.h"
#include "study/study.h"

// What a study says as a whole.

namespace saltus {

// Runs with one sequence of modes.
struct ModeSequence {
  std::string modes;
  std::size_t runs = 0;
  std::size_t first = 0;  // run
};

// Two neighbours, which differ in one parameter only, between which the sequence changes.
struct SequenceChange {
  std::size_t factor = 0;
  std::size_t from = 0;  // runs; the value of the factor is lower in the first
  std::size_t to = 0;
};

// By number of runs, the most frequent first; failed runs count by the modes they reached.
std::vector<ModeSequence> mode_sequences(const std::vector<StudyRun>& runs);

// Where the sequence changes: between neighbours of a grid along each factor, and along the values
// of a single factor whatever the plan. Samples of several factors have no neighbours.
std::vector<SequenceChange> sequence_changes(const Design& design,
                                             const std::vector<StudyRun>& runs);

// Of one record over all runs that have a value.
struct Distribution {
  std::size_t runs = 0;
  double mean = 0.0;
  double deviation = 0.0;  // standard; of the population the runs are a sample of
  double least = 0.0, most = 0.0;
  double quantile_05 = 0.0, median = 0.0, quantile_95 = 0.0;  // linear between order statistics
};
Distribution distribution(const std::vector<StudyRun>& runs, std::size_t record);

// Sobol indices of one record: the share of its variance that a factor causes alone (first order),
// and with all others (total). Saltelli's estimator of the first, Jansen's of the second.
struct SobolIndex {
  double first = 0.0;
  double total = 0.0;
};
// By factor. Pre: the plan is kIndices. Points with a run that failed are left out.
std::vector<SobolIndex> sobol_indices(const Design& design, const std::vector<StudyRun>& runs,
                                      std::size_t record);

// A page with the sequences of modes: coloured over one or two factors, and the numbers above.
std::string study_report(const PreparedStudy& study, const std::vector<StudyRun>& runs);

}  // namespace saltus
