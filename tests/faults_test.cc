// Models with one seeded fault each: the message must name the equation or the unknown at fault.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

struct PendulumStarts {
  VariableOptions x_start{.start = 1.0};
  VariableOptions y_start{.start = 0.0};
  VariableOptions u_start{.start = 0.0};
  VariableOptions v_start{.start = 0.0};
};

// Everything a user gets to read: the error, or message and warnings of the run.
std::string told(const HybridSystem& system) {
  try {
    const SimulateResult result = simulate(system, {.stop_time = 0.5});
    std::string text = result.completed() ? "" : result.message;
    for (const std::string& warning : result.warnings) text += "\n" + warning;
    return text;
  } catch (const Error& error) {
    return error.what();
  }
}

struct Fault {
  std::string name;
  std::vector<std::string> named;  // all of these must occur in what is told
  std::function<HybridSystem()> build;
};

using Edit = std::function<void(Mode&, const std::vector<Expr>&)>;

// A pendulum with all equations named; a fault changes it before it runs.
HybridSystem pendulum(const PendulumStarts& starts, const Edit& edit) {
  HybridSystem system("pendulum");
  const Expr x = system.variable("x", starts.x_start);
  const Expr y = system.variable("y", starts.y_start);
  const Expr u = system.variable("u", starts.u_start);
  const Expr v = system.variable("v", starts.v_start);
  const Expr force = system.variable("force");
  const Expr extra = system.variable("extra");
  Mode& mode = system.mode("swing");
  mode.equations = {{"motion x", der(x) == u},
                    {"motion y", der(y) == v},
                    {"balance x", der(u) == -force * x},
                    {"balance y", der(v) == -force * y - 9.81},
                    {"length", x * x + y * y == 1.0}};
  edit(mode, {x, y, u, v, force, extra});
  return system;
}

HybridSystem edited(const Edit& edit) { return pendulum({}, edit); }

std::vector<Fault> faults() {
  std::vector<Fault> list;
  const auto add = [&](std::string name, std::vector<std::string> named,
                       std::function<HybridSystem()> build) {
    list.push_back({std::move(name), std::move(named), std::move(build)});
  };
  const auto drop = [](std::size_t k) {
    return [k](Mode& mode, const std::vector<Expr>&) {
      mode.equations.erase(mode.equations.begin() + static_cast<std::ptrdiff_t>(k));
    };
  };
  add("missing_length", {"4 equations for 5 unknowns", "no equation is left for"},
      [=] { return edited(drop(4)); });
  add("missing_balance", {"4 equations for 5 unknowns", "no equation is left for"},
      [=] { return edited(drop(2)); });
  add("free_control", {"6 unknowns", "'extra'"}, [] {
    return edited([](Mode& mode, const std::vector<Expr>& s) {
      mode.equations[2] = {"balance x", der(s[2]) == -s[4] * s[0] + s[5]};
    });
  });
  add("duplicated_constraint", {"say the same", "'length'", "'length again'"}, [] {
    return edited([](Mode& mode, const std::vector<Expr>& s) {
      mode.equations.push_back({"length again", 2.0 * (s[0] * s[0] + s[1] * s[1]) == 2.0});
    });
  });
  add("contradictory_constraint", {"contradict", "'length'", "'other length'"}, [] {
    return edited([](Mode& mode, const std::vector<Expr>& s) {
      mode.equations.push_back({"other length", s[0] * s[0] + s[1] * s[1] == 4.0});
    });
  });
  add("contradictory_linear", {"contradict", "'a'", "'b'"}, [] {
    HybridSystem system("line");
    const Expr x = system.variable("x");
    const Expr y = system.variable("y");
    system.mode("m").equations = {
        {"rate", der(x) == 1.0}, {"a", x + y == 1.0}, {"b", x + y == 2.0}};
    return system;
  });
  add("duplicate_instead_of_missing", {"nothing determines", "'z'", "'sum'", "'twice'"}, [] {
    HybridSystem system("twice");
    const Expr x = system.variable("x");
    const Expr y = system.variable("y");
    const Expr z = system.variable("z");
    system.mode("m").equations = {
        {"rate", der(x) == 1.0}, {"sum", y + z == x}, {"twice", 2.0 * y + 2.0 * z == 2.0 * x}};
    return system;
  });
  add("wrong_variable", {"contradict each other", "'rate'", "der(x) = 1", "'level'"}, [] {
    // `level` should say y.
    HybridSystem system("wrong");
    const Expr x = system.variable("x");
    const Expr y = system.variable("y");
    const Expr z = system.variable("z");
    Mode& mode = system.mode("m");
    mode.equations = {{"rate", der(x) == 1.0}, {"level", x == 2.0}};
    // Large modes are judged by structure alone; pad this one so that it is.
    Expr previous = y + z;
    for (int k = 0; k < 60; ++k) {
      const Expr pad = system.variable("pad" + std::to_string(k));
      mode.equations.push_back({"pad " + std::to_string(k), pad == previous});
      previous = pad;
    }
    mode.equations.push_back({"link", y == 3.0 * z + x + 1.0});
    return system;
  });
  add("positions_in_conflict", {"no consistent point", "'length'"}, [] {
    PendulumStarts starts;
    starts.x_start = {.start = 1.0, .fixed = true};
    starts.y_start = {.start = 1.0, .fixed = true};
    return pendulum(starts, [](Mode&, const std::vector<Expr>&) {});
  });
  add("velocities_in_conflict", {"no consistent point", "derivative 1 of equation 'length'"}, [] {
    PendulumStarts starts;
    starts.x_start = {.start = 1.0, .fixed = true};
    starts.y_start = {.start = 0.0, .fixed = true};
    starts.u_start = {.start = 1.0, .fixed = true};
    return pendulum(starts, [](Mode&, const std::vector<Expr>&) {});
  });
  add("guess_off_the_circle", {"start values were changed", "'x' from 1 to", "'y' from 1 to"}, [] {
    PendulumStarts starts;
    starts.y_start = {.start = 1.0};
    return pendulum(starts, [](Mode&, const std::vector<Expr>&) {});
  });
  add("second_derivative", {"'balance x'", "der(x, 2)", "introduce a variable for der(x)"}, [] {
    return edited([](Mode& mode, const std::vector<Expr>& s) {
      mode.equations[2] = {"balance x", der(s[0], 2) == -s[4] * s[0]};
    });
  });
  add("nan_in_an_equation", {"'balance x'", "not finite"}, [] {
    return edited([](Mode& mode, const std::vector<Expr>& s) {
      mode.equations[2] = {"balance x", der(s[2]) == -s[4] * s[0] + sqrt(s[0] - 2.0)};
    });
  });
  add("unknown_successor", {"no mode 'swng'", "did you mean 'swing'?"}, [] {
    return edited([](Mode& mode, const std::vector<Expr>& s) {
      mode.guards = {{.name = "break", .value = 5.0 - s[4], .to = "swng"}};
    });
  });
  add("constant_guard", {"'break'", "can never switch"}, [] {
    return edited([](Mode& mode, const std::vector<Expr>&) {
      mode.guards = {{.name = "break", .value = 1.0, .to = "swing"}};
    });
  });
  add("transition_sets_a_derivative", {"'break'", "der(x)", "not a variable"}, [] {
    return edited([](Mode& mode, const std::vector<Expr>& s) {
      mode.guards = {
          {.name = "break", .value = s[0] - 0.5, .to = "swing", .set = {{der(s[0]), 0.0}}}};
    });
  });
  add("start_depends_on_a_variable", {"'b'", "depends on a"}, [] {
    HybridSystem system("starts");
    const Expr a = system.variable("a");
    const Expr b = system.variable("b", {.start = a});
    system.mode("m").equations = {der(a) == 1.0, der(b) == 1.0};
    return system;
  });
  add("name_declared_twice", {"'x' is declared twice"}, [] {
    HybridSystem system("names");
    const Expr x = system.variable("x");
    system.variable("x");
    system.mode("m").equations = {der(x) == 1.0};
    return system;
  });
  add("mode_without_equations", {"'idle'", "no equations"}, [] {
    HybridSystem system("idle");
    const Expr x = system.variable("x");
    system.mode("m").equations = {der(x) == 1.0};
    system.mode("idle");
    return system;
  });
  add("fixed_start_that_no_state_can_meet", {"no consistent point", "'output'"}, [] {
    HybridSystem system("fixed");
    const Expr x = system.variable("x", {.start = 1.0, .fixed = true});
    const Expr y = system.variable("y", {.start = 5.0, .fixed = true});
    system.mode("m").equations = {{"rate", der(x) == -x}, {"output", y == 2.0 * x}};
    return system;
  });
  return list;
}

class SeededFault : public testing::TestWithParam<std::size_t> {};

TEST_P(SeededFault, IsNamedInTheMessage) {
  const Fault fault = faults()[GetParam()];
  std::string text;
  try {
    text = told(fault.build());
  } catch (const Error& error) {
    text = error.what();
  }
  for (const std::string& part : fault.named)
    EXPECT_NE(text.find(part), std::string::npos)
        << fault.name << " lacks \"" << part << "\" in: " << text;
}

INSTANTIATE_TEST_SUITE_P(All, SeededFault, testing::Range<std::size_t>(0, 20),
                         [](const auto& test) { return faults()[test.param].name; });

}  // namespace
}  // namespace saltus
