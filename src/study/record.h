#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expr/graph.h"
#include "expr/tape.h"
#include "simulate/trajectory.h"

namespace saltus {

// What is kept of a run: numbers that expressions of its results have. A name in such an expression
// is a result column or a parameter and means its value at the end; functions of one argument look
// at all stored points:
//
//   final(e), initial(e)   at the end, at the start
//   min(e), max(e)         of all points
//   mean(e), integral(e)   over time, by trapezoids from point to point
//   time                   the time reached
//
//   "w1 - w2"    "max(abs(tau))"    "lock = integral(P)/1000"
struct RunRecord {
  std::string name;  // as given before '=', or the text itself
  std::string text;
};

// Throws Error for an empty text.
RunRecord parse_record(const std::string& text);

// A sink that evaluates records as the run goes on and keeps no points. For one run.
class RecordSink : public ResultSink {
 public:
  explicit RecordSink(std::vector<RunRecord> records);
  ~RecordSink() override;

  // Throws Error that suggests the nearest name if a record reads what is no result.
  void begin(const Trajectory& layout) override;
  void store(double time, ModeId mode, const double* columns) override;

  // By record; NaN where nothing was stored.
  std::vector<double> values() const;
  // The modes that held, in order, without repetitions.
  const std::vector<ModeId>& modes() const { return modes_; }

 private:
  enum class Over { kEnd, kStart, kMin, kMax, kMean, kIntegral };
  struct Aggregate {
    Over over;
    Expr symbol;  // what stands for it in the record
    double value;
  };
  struct Input {  // a result or parameter that is read
    std::string name;
    Expr symbol;
    Trajectory::Source source;
  };
  void compile(const Trajectory& layout);
  Trajectory::Source find(const Trajectory& layout, const std::string& name) const;

  std::vector<RunRecord> records_;
  Graph graph_;
  std::vector<Input> inputs_;
  std::vector<Aggregate> aggregates_;
  Tape inner_, outer_;  // values of the aggregates' arguments; of the records
  Tape::Workspace inner_registers_;
  std::vector<double> input_values_, argument_values_, last_arguments_;
  std::vector<ModeId> modes_;
  double first_time_ = 0.0, last_time_ = 0.0;
  std::size_t points_ = 0;
};

}  // namespace saltus
