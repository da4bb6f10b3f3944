// Writes results: CSV, MATLAB, a summary in JSON, and an interactive report.
#pragma once

#include "output/csv.h"
#include "output/json.h"
#include "output/mat.h"
#include "output/report.h"
