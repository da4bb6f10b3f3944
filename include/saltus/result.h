// What a run returns: points, events, modes, statistics, and why it ended.
#pragma once

#include "simulate/result.h"
#include "simulate/trajectory.h"
