#define SALTUS_STAGE_KERNELS stage_kernels_plain
#include "integrate/stage_loops.h"

namespace saltus {

#if defined(__x86_64__)

extern const StageKernels stage_kernels_avx2;

const StageKernels& stage_kernels() {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has_avx2 ? stage_kernels_avx2 : stage_kernels_plain;
}

#else

const StageKernels& stage_kernels() { return stage_kernels_plain; }

#endif

}  // namespace saltus
