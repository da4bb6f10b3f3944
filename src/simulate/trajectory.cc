#include "simulate/trajectory.h"

#include "base/error.h"
#include "base/suggest.h"

namespace saltus {

std::size_t Trajectory::find(const std::string& name) const {
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i].name == name) return i;
  }
  std::vector<std::string> names;
  names.reserve(signals.size());
  for (const SignalInfo& signal : signals) names.push_back(signal.name);
  throw Error("the result has no signal '" + name + "'" + did_you_mean(name, names));
}

std::vector<double> Trajectory::column(const std::string& name) const {
  const std::size_t signal = find(name);
  std::vector<double> result(size());
  for (std::size_t point = 0; point < size(); ++point) result[point] = value(point, signal);
  return result;
}

}  // namespace saltus
