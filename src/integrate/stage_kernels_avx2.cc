// Compiled for AVX2 and FMA (src/CMakeLists.txt).
#define SALTUS_STAGE_KERNELS stage_kernels_avx2
#include "integrate/stage_loops.h"
