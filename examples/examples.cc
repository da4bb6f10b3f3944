#include "examples/examples.h"

#include <array>

#include "examples/ball/ball.h"
#include "examples/rectifier/rectifier.h"
#include "examples/robertson/robertson.h"
#include "examples/tanks/tanks.h"

namespace saltus {

std::span<const Example> examples() {
  static const std::array<Example, 4> all = {{
      {"ball", "bouncing ball: one mode, the velocity jumps at every impact", make_ball},
      {"tanks", "two tanks with a weir and an overflow valve: four modes", make_tanks},
      {"robertson", "Robertson kinetics: stiff chemistry to t = 1e11", make_robertson},
      {"rectifier", "full-bridge rectifier with ideal diodes: three modes of index 1",
       make_rectifier},
  }};
  return all;
}

}  // namespace saltus
