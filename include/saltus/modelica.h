// Reads Modelica: build(load_modelica("clutch.mo")) is a hybrid system.
#pragma once

#include "model/build.h"
#include "modelica/load.h"
