#pragma once

#include "modelica/instance.h"

namespace saltus {

// What is final stays, and only what is replaceable is redeclared. Throws Error. Pre: the layers
// from outside, the strongest first.
void check_layers(const Instance& instance);

}  // namespace saltus
