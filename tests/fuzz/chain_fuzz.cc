#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"

// Feeds arbitrary text to everything that happens before a model is analysed: reading, flattening,
// elimination of aliases. It must neither crash nor hang; what is wrong is an Error with a message.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    FlatModel flat = load_modelica_text(text, "", {.use_modelica_path = false}, "fuzz.mo");
    const std::size_t variables = flat.system.variables().size();
    const HybridSystem system = build(std::move(flat));
    if (system.variables().size() > variables) std::abort();
  } catch (const Error& error) {
    if (error.message().empty()) {
      std::fprintf(stderr, "an error without a message\n");
      std::abort();
    }
  }
  return 0;
}
