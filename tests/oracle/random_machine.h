#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Random state machines with states that move at constant rates, written as Modelica, and an
// interpreter that follows them exactly. It shares no code with Saltus.

namespace saltus::oracle {

struct MachineRun {
  bool ends_in_a_circle = false;              // as many hops at one instant as no model means
  bool is_delicate = false;                   // two things happen within 1e-6 s: the order is open
  std::vector<std::string> entered;           // paths of states, in order
  std::vector<double> times;                  // of these entries
  std::map<std::string, double> final;        // of variables that exist at the end
  std::vector<std::string> absent;            // variables that do not
  std::map<std::string, double> entry_count;  // by counter
};

struct RandomMachine {
  std::string text;  // model M
  double start_time = 0.0;
  double stop_time = 1.0;
  MachineRun expected;
};

// The same for the same seed. `nested`: some states hold a machine of their own.
RandomMachine random_machine(std::uint64_t seed, bool nested);

}  // namespace saltus::oracle
