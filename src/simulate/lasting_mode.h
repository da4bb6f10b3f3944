#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/id.h"
#include "model/system_state.h"

namespace saltus {

struct Run;
struct Visit;
class ModeRun;

// Which modes last: for systems whose modes are listed.

// Guards at zero that fall just after, as relations of flat models are judged. The mode has been
// made consistent with the state.
std::vector<std::size_t> falling_guards(Run& run, ModeRun& mode, const SystemState& at);

struct LastingMode {
  ModeId id;
  SystemState from;  // the state it is entered with
};

// Where hops at an instant run in a circle: a mode that the state may go on in without a jump,
// among those of the circle and those that violated guards, and others at zero, lead to from there.
// None if there is none.
std::optional<LastingMode> find_lasting_mode(Run& run, std::span<const Visit> circle);

}  // namespace saltus
