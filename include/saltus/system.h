// Hybrid systems: variables, parameters, modes, guards and transitions.
#pragma once

#include "model/system.h"
