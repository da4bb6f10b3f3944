#pragma once

namespace saltus {

struct Run;

// The loop of simulate() up to a time, once the run is in its initial mode: a step ends there. For
// what looks at a run on the way, with times that increase up to the stop time.
void run_until(Run& run, double time);

}  // namespace saltus
