#include "examples/tanks/tanks.h"

#include <numbers>

namespace saltus {

HybridSystem make_tanks() {
  HybridSystem tanks("tanks");
  const auto parameter = [&](const char* name, double value, const char* unit, const char* text) {
    return tanks.parameter(name, value, {.unit = unit, .description = text});
  };
  const Expr g = parameter("g", 9.81, "m/s2", "gravity");
  const Expr area1 = parameter("area1", 1.0, "m2", "cross-section of tank 1");
  const Expr area2 = parameter("area2", 0.5, "m2", "cross-section of tank 2");
  const Expr outlet1 = parameter("outlet1", 2.0e-3, "m2", "effective area of the outlet of tank 1");
  const Expr outlet2 = parameter("outlet2", 1.5e-3, "m2", "effective area of the outlet of tank 2");
  const Expr valve = parameter("valve", 2.5e-3, "m2", "effective area of the open overflow valve");
  const Expr weir = parameter("weir", 0.6, "m", "height of the weir of tank 1");
  const Expr width = parameter("width", 0.2, "m", "width of the weir");
  const Expr discharge = parameter("discharge", 0.6, "1", "discharge coefficient of the weir");
  const Expr open_level = parameter("open_level", 0.9, "m", "level 2 at which the valve opens");
  const Expr shut_level = parameter("shut_level", 0.2, "m", "level 2 at which the valve shuts");
  const Expr mean = parameter("mean", 8.0e-3, "m3/s", "mean inflow");
  const Expr swing = parameter("swing", 6.0e-3, "m3/s", "amplitude of the inflow");
  const Expr period = parameter("period", 400.0, "s", "period of the inflow");

  const auto variable = [&](const char* name, double start, double nominal, const char* unit,
                            const char* text) {
    return tanks.variable(name,
                          {.start = start, .nominal = nominal, .unit = unit, .description = text});
  };
  const Expr h1 = variable("h1", 0.3, 1.0, "m", "level in tank 1");
  const Expr h2 = variable("h2", 0.3, 1.0, "m", "level in tank 2");
  const Expr supplied = variable("supplied", 0.0, 1.0, "m3", "volume that flowed in");
  const Expr drained = variable("drained", 0.0, 1.0, "m3", "volume that flowed out");
  const Expr q_in = variable("q_in", 0.0, 0.01, "m3/s", "inflow to tank 1");
  const Expr q_out1 = variable("q_out1", 0.0, 0.01, "m3/s", "outlet of tank 1, into tank 2");
  const Expr q_weir = variable("q_weir", 0.0, 0.01, "m3/s", "over the weir, into tank 2");
  const Expr q_out2 = variable("q_out2", 0.0, 0.01, "m3/s", "outlet of tank 2");
  const Expr q_valve = variable("q_valve", 0.0, 0.01, "m3/s", "through the overflow valve");

  const Expr head = max(h1 - weir, 0.0);  // Newton may look below the crest
  const Expr pouring = 2.0 / 3.0 * discharge * width * sqrt(2.0 * g) * pow(head, 1.5);
  const auto mode_name = [](bool wet, bool open) {
    return std::string(wet ? "wet" : "dry") + (open ? "/open" : "/shut");
  };
  for (const bool wet : {false, true}) {
    for (const bool open : {false, true}) {
      Mode& mode = tanks.mode(mode_name(wet, open));
      mode.equations = {
          {"inflow", q_in == mean + swing * sin(2.0 * std::numbers::pi / period * tanks.time())},
          {"outlet of tank 1", q_out1 == outlet1 * sqrt(2.0 * g * h1)},
          {"outlet of tank 2", q_out2 == outlet2 * sqrt(2.0 * g * h2)},
          {"weir", wet ? q_weir == pouring : q_weir == 0.0},
          {"valve", open ? q_valve == valve * sqrt(2.0 * g * h2) : q_valve == 0.0},
          {"volume of tank 1", area1 * der(h1) == q_in - q_out1 - q_weir},
          {"volume of tank 2", area2 * der(h2) == q_out1 + q_weir - q_out2 - q_valve},
          {"supply", der(supplied) == q_in},
          {"drain", der(drained) == q_out2 + q_valve}};
      mode.guards = {{.name = wet ? "falls below the weir" : "reaches the weir",
                      .value = wet ? h1 - weir : weir - h1,
                      .to = mode_name(!wet, open)},
                     {.name = open ? "valve shuts" : "valve opens",
                      .value = open ? h2 - shut_level : open_level - h2,
                      .to = mode_name(wet, !open)}};
    }
  }
  tanks.experiment = {.stop_time = 1600.0, .interval = 2.0};
  return tanks;
}

}  // namespace saltus
