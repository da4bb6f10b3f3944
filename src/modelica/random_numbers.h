#pragma once

#include <string>
#include <vector>

#include "modelica/value.h"

namespace saltus {

// One step of a generator of the xorshift family (Marsaglia; Vigna), as the external functions
// ModelicaRandom_xorshift64star, _xorshift128plus and _xorshift1024star make it: a number between 0
// and 1, then the next state. The state is the halves of 64-bit words as signed Integers; that of
// xorshift1024* ends with the place in it. Throws Error for a state of another size.
std::vector<Value> random_step(const std::string& function, const Value& state, const Place& place);

// The same with numbers: the result, then the next state.
std::vector<double> random_step(const std::string& function, const std::vector<double>& state);

}  // namespace saltus
