// Runs a hybrid system with error control.
#pragma once

#include "simulate/simulate.h"
