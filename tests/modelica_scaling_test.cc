// How the way from text to an analysed model grows with the length of a chain of components, and
// components of two libraries in one model.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <limits>
#include <string>

#include "analysis/report.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

// n inertias with springs that have a clearance: 13 n + 2 equations.
std::string chain(int n) {
  std::string text = R"(
connector Flange Real phi; flow Real tau; end Flange;
model Inertia
  parameter Real J = 1;
  Flange a, b;
  Real phi(start = 0, fixed = true), w(start = 0, fixed = true);
equation
  a.phi = phi;
  b.phi = phi;
  der(phi) = w;
  J*der(w) = a.tau + b.tau;
end Inertia;
model Spring
  parameter Real c = 100, d = 1;
  Flange a, b;
  Real s, v, tau;
equation
  s = b.phi - a.phi;
  v = der(s);
  tau = if s > 0.1 then c*s + d*v else d*v;
  b.tau = tau;
  a.tau = -tau;
end Spring;
model Fixed Flange a; equation a.phi = 0; end Fixed;
model Chain
  Fixed f;
)";
  std::string connections = "equation\n  connect(f.a, s1.a);\n";
  for (int k = 1; k <= n; ++k) {
    const std::string i = std::to_string(k);
    text += "  Inertia i" + i + ";\n  Spring s" + i + ";\n";
    connections += "  connect(s" + i + ".b, i" + i + ".a);\n";
    if (k < n) connections += "  connect(i" + i + ".b, s" + std::to_string(k + 1) + ".a);\n";
  }
  return text + connections + "end Chain;\n";
}

// Processor time from text to the analysis of the first mode, the shortest of three; s.
double time_of(int n) {
  const std::string text = chain(n);
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 3; ++round) {
    const std::clock_t start = std::clock();
    const HybridSystem system = build(load_modelica_text(text, "", {.use_modelica_path = false}));
    const SystemAnalysis analysis = analyse_modes(system, 1);
    const double spent = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_EQ(analysis.modes.size(), 1U);
    EXPECT_EQ(analysis.modes.at(0).unknowns, static_cast<std::size_t>(13 * n + 2));
    best = std::min(best, spent);
  }
  return best;
}

TEST(ModelicaScaling, FlatteningAndAnalysisGrowAlmostLinearly) {
  const double small = time_of(400);  // 5202 equations
  EXPECT_LE(small, 5.0);
  const double large = time_of(3200);
  EXPECT_LE(std::log(large / small) / std::log(8.0), 1.2) << small << " s, " << large << " s";
}

// Flanges of both libraries are the same in content, so their components can be connected.
TEST(ModelicaScaling, DrivetrainMixesWithTheStandardLibrary) {
  const char* library = std::getenv("SALTUS_MSL");
  if (library == nullptr) GTEST_SKIP() << "set SALTUS_MSL to a folder with the package Modelica";
  const std::string text = R"(
model Mixed
  Modelica.Mechanics.Rotational.Components.Inertia left(J = 1, phi(fixed = true), w(fixed = true));
  Saltus.Drivetrain.Clutch clutch(c_f = 2);
  Modelica.Mechanics.Rotational.Components.Inertia right(J = 2, phi(fixed = true),
    w(start = 6, fixed = true));
equation
  clutch.pressure = 1;
  connect(left.flange_b, clutch.flange_a);
  connect(clutch.flange_b, right.flange_a);
end Mixed;
)";
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER, library}, .use_modelica_path = false};
  const SimulateResult result = simulate(build(load_modelica_text(text, "Mixed", options)),
                                         {.stop_time = 4.0, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  // Slip 6 - 2 t (1 + 1/2) ends at t = 2 with the common speed 4.
  EXPECT_NEAR(result.final.at("left.w"), 4.0, 1e-6);
  EXPECT_NEAR(result.final.at("right.w"), 4.0, 1e-6);
  EXPECT_NEAR(result.final.at("left.phi"), 4.0 + 8.0, 1e-6);
  EXPECT_NEAR(result.final.at("right.phi"), 12.0 - 2.0 + 8.0, 1e-6);
  EXPECT_EQ(result.modes.size(), 2U);
}

}  // namespace
}  // namespace saltus
