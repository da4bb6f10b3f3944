#pragma once

#include <vector>

#include "locate/guard_watch.h"
#include "simulate/zeno.h"

namespace saltus {

struct Run;

// A mode that was made to go on in where events accumulate.
struct MadeLimit {
  ModeId from;
  std::vector<Contact> contacts;
  bool directions_are_constant = false;
  ModeId limit;
};

// If the events of late accumulate, goes on at the accumulation point in the limit mode.
void follow_accumulation(Run& run);
// A reset that leaves nothing to reset (an impact without restitution): its guard, left the wrong
// way, would fire for ever. True if it has been answered.
bool rest_at_once(Run& run, const Firing& firing);
// Guards that the mode just left kept at zero leave it flat.
void note_release(Run& run, ModeId from);

}  // namespace saltus
