#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/consistent.h"
#include "expr/graph.h"
#include "expr/tape.h"
#include "model/dae.h"

namespace saltus {

// Start values of a mode, block by block: structure chooses as many unknowns as there are
// equations, initial ones included, and orders both so that each block needs only what blocks
// before it have found. So guesses matter only inside of blocks that are not linear, and what is
// not defined at the guesses (the angle of a current not yet known) is asked at the solution.
// What is given (under der()) keeps its value unless an initial equation needs it, what is fixed
// always.
class BlockStart {
 public:
  // Rows of `definition`: equations of the mode, then initial ones.
  BlockStart(Graph& graph, const DaeDefinition& definition, const std::vector<bool>& given,
             const std::vector<bool>& fixed);

  // Whether the equations need all given values that are not fixed, or none of them.
  bool leaves_no_choice() const { return leaves_no_choice_; }

  // `data`: of a Dae made from the definition. In: guesses; out: the solution, or how far it came.
  ConsistentOutcome solve(const DaeData& data, double t, std::vector<double>& x,
                          std::vector<double>& dx);

 private:
  // Where a value is read: columns are those of x, then of x'; then what is held.
  struct Block {
    std::vector<std::size_t> rows, columns, reads;
    std::unique_ptr<const Dae> dae;
    std::unique_ptr<ConsistentSolver> solver;
    DaeData data;
  };
  // Blocks of one equation that is linear in its unknown and that do not need each other.
  struct Wave {
    std::vector<std::size_t> rows, columns;
    Tape tape;  // residuals, then slopes
    Tape::Workspace registers;
    std::vector<double> values;
  };
  struct Level {
    Wave wave;
    std::vector<Block> blocks;
  };

  ConsistentOutcome solve_wave(Wave& wave, const DaeData& data, double t, std::vector<double>& x,
                               std::vector<double>& dx) const;
  ConsistentOutcome solve_block(Block& block, const DaeData& data, double t, std::vector<double>& x,
                                std::vector<double>& dx) const;

  std::size_t excess_ = 0;  // an equation that no unknown is left for, if there is one
  std::size_t rows_ = 0;
  bool leaves_no_choice_ = false;
  std::vector<Level> levels_;
};

}  // namespace saltus
