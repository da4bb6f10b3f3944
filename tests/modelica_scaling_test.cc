// A long chain of components, and components of two libraries in one model.

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "analysis/report.h"
#include "model/build.h"
#include "modelica/load.h"
#include "modelica_chain.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

// How fast it is and how it grows with size is measured by bench_translation; here it must be done
// at all, within the time a user is promised.
TEST(ModelicaScaling, FiveThousandEquationsAreAnalysedInFiveSeconds) {
  const std::clock_t start = std::clock();
  const HybridSystem system =
      build(load_modelica_text(spring_chain(400), "", {.use_modelica_path = false}));
  const SystemAnalysis analysis = analyse_modes(system, 1);
  EXPECT_LE(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5.0);
  ASSERT_EQ(analysis.modes.size(), 1U);
  EXPECT_EQ(analysis.modes.at(0).unknowns, 5202U);
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
