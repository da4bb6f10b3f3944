#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/large_pages.h"

namespace saltus {

// What is known of one result column.
struct SignalInfo {
  std::string name;  // as in the source: "h", "der(h)"
  std::string unit;
  std::string description;
};

// Names that start with '$' belong to helper variables of a run; they are no results.
inline bool is_internal(const std::string& name) { return name.starts_with('$'); }

// Stored points of a run: every signal of the system at every stored time; variables that are not
// unknowns of the active mode hold their last value. At an event there are two points with the same
// time: the left limit (t-) and the right limit (t+), one more a hop if several happen at one
// instant.
struct Trajectory {
  std::vector<SignalInfo> signals;     // without time
  std::vector<SignalInfo> parameters;  // constant columns
  std::vector<double> parameter_values;
  std::vector<std::string> mode_names;  // by ModeId

  // A signal is a multiple of a stored column, or a constant: many have the same values, up to the
  // sign.
  struct Source {
    static constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);
    std::size_t column;
    double factor;  // without a column: the constant

    double read(const double* point) const {
      return column == kNoColumn ? factor : factor * point[column];
    }
  };
  std::vector<Source> sources;  // by signal; empty: each has its own column

  std::vector<double> time;
  std::vector<ModeId> mode;                        // active mode at each point
  std::vector<double, LargePages<double>> values;  // values[point * width() + column]
  std::size_t columns = 0;                         // where `sources` are given

  std::size_t size() const { return time.size(); }
  std::size_t width() const { return sources.empty() ? signals.size() : columns; }
  Source source(std::size_t signal) const {
    return sources.empty() ? Source{signal, 1.0} : sources[signal];
  }
  double value(std::size_t point, std::size_t signal) const {
    return source(signal).read(values.data() + point * width());
  }
  // Index of the named signal; throws Error that suggests the nearest name.
  std::size_t find(const std::string& name) const;
  // All stored values of one signal.
  std::vector<double> column(const std::string& name) const;
};

// Receives the points of a run as they are made: the one seam for result storage. What it throws
// ends the run (StopReason::kOutputFailed).
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  // Before the first point: names, parameters and sources of the signals; it holds no points.
  // Again where a mode that is made during the run has variables of its own: columns and signals
  // are added at the end, and points stored before have NaN there.
  virtual void begin(const Trajectory& layout) = 0;
  // `columns` has layout.width() numbers; layout.source(k).read(columns) is signal k.
  virtual void store(double time, ModeId mode, const double* columns) = 0;
};

}  // namespace saltus
