#include "examples/examples.h"

#include <array>

#include "examples/arm/arm.h"
#include "examples/ball/ball.h"
#include "examples/billiard/billiard.h"
#include "examples/capacitors/capacitors.h"
#include "examples/clutch/clutch.h"
#include "examples/cylinder/cylinder.h"
#include "examples/evaporator/evaporator.h"
#include "examples/four_bar/four_bar.h"
#include "examples/km16/km16.h"
#include "examples/km17/km17.h"
#include "examples/nag/nag.h"
#include "examples/pendulum/pendulum.h"
#include "examples/rectifier/rectifier.h"
#include "examples/relays/relays.h"
#include "examples/rlc/rlc.h"
#include "examples/robertson/robertson.h"
#include "examples/slider_crank/slider_crank.h"
#include "examples/stick_slip/stick_slip.h"
#include "examples/tanks/tanks.h"

namespace saltus {

std::span<const Example> examples() {
  static const std::array<Example, 21> all = {{
      {"ball", "bouncing ball: one mode, the velocity jumps at every impact", make_ball},
      {"tanks", "two tanks with a weir and an overflow valve: four modes", make_tanks},
      {"robertson", "Robertson kinetics: stiff chemistry to t = 1e11", make_robertson},
      {"rectifier", "full-bridge rectifier with ideal diodes: three modes of index 1",
       make_rectifier},
      {"pendulum", "pendulum whose string breaks, flight, steered flight: index 3, 0 and 1",
       make_pendulum},
      {"slider_crank", "rigid slider crank in redundant coordinates: index 3", make_slider_crank},
      {"four_bar", "planar four-bar linkage in redundant coordinates: index 3", make_four_bar},
      {"arm", "elastic-joint arm on a prescribed path: index 5, no degree of freedom", make_arm},
      {"nag", "automatic gearbox, shifts 1-2-3-2: 69 unknowns of index 3, clutches lock and slip",
       make_nag},
      {"nag_coast", "the gearbox in first gear on a free wheel: drive, coast, drive",
       make_nag_coast},
      {"rlc", "oscillating circuit with a loop of capacitors: index 2", make_rlc},
      {"km17", "two modes with different unknowns that drive the state to each other: sliding",
       make_km17},
      {"evaporator", "evaporator whose overflow opens at a level: sliding or hysteresis",
       make_evaporator},
      {"stick_slip", "block on a moving belt: dry friction that sticks and slips", make_stick_slip},
      {"relays", "two relays that act on each other: sliding on two surfaces", make_relays},
      {"clutch", "ideal clutch: momentum is conserved when it closes", make_clutch},
      {"capacitors", "switched capacitors: charge is conserved at every switch", make_capacitors},
      {"cylinder", "hydraulic cylinder with two valves: four modes, a pinnacle", make_cylinder},
      {"cylinder_oil", "the same with oil that is compressed: its impulses take time",
       make_cylinder_oil},
      {"km16", "pendulum whose guard is its own energy (KM 16): the flow lies in the surface",
       make_km16},
      {"billiard", "two balls that just touch: a root that is no crossing", make_billiard},
  }};
  return all;
}

}  // namespace saltus
