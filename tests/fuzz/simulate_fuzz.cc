#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/stop_request.h"
#include "model/build.h"
#include "modelica/load.h"
#include "output/json.h"
#include "output/report.h"
#include "simulate/simulate.h"

// Feeds arbitrary text to everything, to the end of a short simulation and its summary. It must
// neither crash nor hang; what is wrong is an Error or a StopReason with a message.

namespace {

void require_message(const std::string& message) {
  if (!message.empty()) return;
  std::fprintf(stderr, "an end without a message\n");
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr double kSeconds = 1.0;  // of wall time; a run that is cut short is no failure
  try {
    const StopScope limit(nullptr, kSeconds);
    FlatModel flat = load_modelica_text(text, "", {.use_modelica_path = false}, "fuzz.mo");
    const HybridSystem system = build(std::move(flat));
    SimulateOptions options;
    options.max_steps = 300;
    options.max_events = 60;
    options.max_seconds = kSeconds;
    options.interval = 0.0;
    options.method = size % 8 == 0 ? Method::kBdf : Method::kRadau;
    const SimulateResult result = simulate(system, options);
    require_message(result.message);
    if (to_json_text(result).empty() || report_html(result).empty()) std::abort();
  } catch (const Error& error) {
    require_message(error.message());
  } catch (const StopRequested&) {
  }
  return 0;
}
