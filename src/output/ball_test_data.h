#pragma once

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "simulate/result.h"

namespace saltus {

// A ball dropped from 1 m that rebounds with e = 0.8 until it rests, written down from the exact
// flight h = v t - g t^2 / 2 with v_n = e^n sqrt(2 g).
inline SimulateResult ball_result(std::size_t points_per_flight = 40, int bounces = 12) {
  const double g = 9.81;
  const double e = 0.8;
  SimulateResult result;
  result.model = "ball";
  result.method = "radau";
  result.formulation = "reduced";
  result.tolerance = 1e-6;
  Trajectory& trajectory = result.trajectory;
  trajectory.signals = {
      {"h", "m", "height above the table"}, {"v", "m/s", "velocity"}, {"energy[kin,pot]", "J", ""}};
  trajectory.parameters = {{"g", "m/s2", "gravity"}, {"e", "", "restitution"}};
  trajectory.parameter_values = {g, e};
  trajectory.mode_names = {"flying", "resting"};

  const auto store = [&](double time, double h, double v, std::size_t mode) {
    trajectory.time.push_back(time);
    trajectory.mode.push_back(ModeId(mode));
    trajectory.values.insert(trajectory.values.end(), {h, v, 0.5 * v * v + g * h});
  };
  double start = -std::sqrt(2.0 / g);  // as if it had risen from the table before time 0
  double v = std::sqrt(2.0 * g);
  for (int flight = 0; flight <= bounces; ++flight) {
    const double duration = 2.0 * v / g;
    const double first = flight == 0 ? 0.5 : 0.0;
    for (std::size_t i = 0; i <= points_per_flight; ++i) {
      const double s = duration * (first + (1.0 - first) * static_cast<double>(i) /
                                               static_cast<double>(points_per_flight));
      const double h = i == points_per_flight ? 0.0 : v * s - 0.5 * g * s * s;
      store(start + s, h, v - g * s, 0);
    }
    start += duration;
    trajectory.time.back() = start;
    const bool last = flight == bounces;
    Event event;
    event.time = start;
    event.kind = last ? "switch" : "jump";
    event.tags = {event.kind};
    event.ontology = "pinnacle";
    event.from = "flying";
    event.to = last ? "resting" : "flying";
    event.causes = {"h < 0"};
    event.jumps = {{"v", {-v, last ? 0.0 : e * v}}};
    result.events.push_back(event);
    if (last) break;
    v *= e;
  }
  store(start, 0.0, 0.0, 1);
  store(start + 1.0, 0.0, 0.0, 1);
  result.time = start + 1.0;
  result.final = {{"h", 0.0}, {"v", 0.0}};
  result.message = "reached the stop time";
  result.modes = {{.name = "flying",
                   .conditions = {"h > 0"},
                   .unknowns = 2,
                   .d = 2,
                   .visits = 13,
                   .seconds = 2e-3,
                   .statistics = {.steps = 39}},
                  {.name = "resting",
                   .conditions = {"v = 0"},
                   .unknowns = 2,
                   .a = 2,
                   .visits = 1,
                   .seconds = 1e-5,
                   .statistics = {.steps = 1}}};
  result.statistics = {.steps = 40,
                       .rejected = 2,
                       .residuals = 300,
                       .jacobians = 14,
                       .factorizations = 28,
                       .newton_iterations = 90,
                       .events = 13,
                       .translate_seconds = 0.0,
                       .analyse_seconds = 1e-4,
                       .integrate_seconds = 2e-3,
                       .wall_seconds = 3e-3};
  return result;
}

// A folder of its own that vanishes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "saltus-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace saltus
