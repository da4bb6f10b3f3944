#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/dae.h"

namespace saltus {

class ModeRun;

// Whether small changes of a solution grow so much that rounding rules it.
//
// Now and then the equations are linearised where the run is. Where that shows growth which could
// matter before the run ends, a small change is carried along from there, step by step: it begins
// as rounding, is never less than that, and turns and decays as the linearised solution does. So
// what grows together with the solution (x' = x) or for a while only (a swing over the top) does
// not count. Steps so long that rounding would fill them from the beginning to the end are told by
// the eigenvalues alone: methods for stiff equations damp what really grows there.
//
// What events do to small changes is left out: they go on as large as they were.
class RoundingWatch {
 public:
  RoundingWatch();
  ~RoundingWatch();
  RoundingWatch(const RoundingWatch&) = delete;
  RoundingWatch& operator=(const RoundingWatch&) = delete;

  struct Finding {
    std::size_t unknown = 0;  // that shows it most
    double seconds = 0.0;     // in which small changes grow tenfold there; 0: not known
  };
  // After a step. `tolerance` is relative, `length` that of the run and `left` what remains of it,
  // in s. Speaks once.
  std::optional<Finding> note(ModeRun& mode, double tolerance, double length, double left);
  // The solution jumps, or another mode follows: no step leads there.
  void interrupt() { is_interrupted_ = true; }
  // It is known already.
  void silence() { is_over_ = true; }

 private:
  struct Linear;
  struct Work;  // memory that is used again
  bool linearise(ModeRun& mode, double t, Linear& out);
  std::optional<Finding> look(double step, double limit, double left);
  std::optional<Finding> carry(ModeRun& mode, double step, double limit);
  void take_over(const Dae& dae);

  std::size_t waits_ = 0;  // steps until the next look; 0: before the first
  double rate_ = 0.0;      // 1/s, of the last look
  bool is_over_ = false;   // has spoken
  bool carries_ = false;
  bool is_interrupted_ = true;      // `before_` is not that of the start of the step
  std::vector<std::string> names_;  // of what `change_` belongs to
  std::vector<double> change_;      // by unknown of the Dae
  std::size_t sign_ = 0;
  std::vector<double> x_, dx_;
  std::unique_ptr<Linear> before_, middle_, now_;
  std::unique_ptr<Work> work_;
};

}  // namespace saltus
