// The loops of stage_kernels.h, compiled more than once, for different processors: whoever includes
// this names the table (SALTUS_STAGE_KERNELS). Nothing inline from other headers may be used here:
// the linker would keep one copy of it, for whichever processor.

#include "integrate/stage_kernels.h"

namespace saltus {
namespace {

using Four = double __attribute__((vector_size(32)));
using FourAnywhere = double __attribute__((vector_size(32), aligned(8)));

// References, since how such a vector is passed depends on the processor.
const FourAnywhere& load(const double* from) {
  return *reinterpret_cast<const FourAnywhere*>(from);
}
void store(double* to, const Four& value) { *reinterpret_cast<FourAnywhere*>(to) = value; }

void multiply(std::size_t n, const StageKernels::Matrix& matrix, const double* in, double* out) {
  const Four a = load(matrix.column[0]);
  const Four b = load(matrix.column[1]);
  const Four c = load(matrix.column[2]);
  for (std::size_t j = 0; j < n; ++j, in += 4, out += 4)
    store(out, a * in[0] + b * in[1] + c * in[2]);
}

void add_start(std::size_t n, const double* x0, const double* z, double* x) {
  for (std::size_t j = 0; j < n; ++j, z += 4, x += 4) store(x, load(z) + x0[j]);
}

void add_start_and_multiply(std::size_t n, const double* x0, const StageKernels::Matrix& matrix,
                            const double* z, double* x, double* dx) {
  const Four a = load(matrix.column[0]);
  const Four b = load(matrix.column[1]);
  const Four c = load(matrix.column[2]);
  for (std::size_t j = 0; j < n; ++j, z += 4, x += 4, dx += 4) {
    store(x, load(z) + x0[j]);
    store(dx, a * z[0] + b * z[1] + c * z[2]);
  }
}

void interpolate(std::size_t count, const std::uint32_t* list, const double* x0,
                 const StageKernels::Matrix& matrix, const double* z, double* x) {
  const Four a = load(matrix.column[0]);
  const Four b = load(matrix.column[1]);
  const Four c = load(matrix.column[2]);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t j = list[k];
    const double* at = z + 4 * j;
    store(x + 4 * j, x0[j] + (a * at[0] + b * at[1] + c * at[2]));
  }
}

double multiply_and_measure(std::size_t n, const StageKernels::Matrix& matrix, const double* in,
                            const double* weights, double* out) {
  const Four a = load(matrix.column[0]);
  const Four b = load(matrix.column[1]);
  const Four c = load(matrix.column[2]);
  Four sum = {0.0, 0.0, 0.0, 0.0};
  for (std::size_t j = 0; j < n; ++j, in += 4, out += 4) {
    const Four product = a * in[0] + b * in[1] + c * in[2];
    store(out, product);
    const Four weighted = product * weights[j];  // before it is squared: values may be huge
    sum += weighted * weighted;
  }
  return sum[0] + sum[1] + sum[2];
}

void add(std::size_t n, const double* update, double* z) {
  for (std::size_t j = 0; j < n; ++j, update += 4, z += 4) store(z, load(z) + load(update));
}

const Four kInBoth = {1.0, 1.0, 0.0, 0.0};

void spread(std::size_t n, const double* by_x, double* out) {
  for (std::size_t k = 0; k < n; ++k, out += 4) {
    out[0] = out[1] = by_x[k];
    out[2] = out[3] = 0.0;
  }
}

void mix(std::size_t count, const std::uint32_t* list, const double* by_x, const double* by_dx,
         const double (&along_dx)[4], double* out) {
  const Four dx = load(along_dx);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t k = list[i];
    store(out + 4 * k, kInBoth * by_x[k] + dx * by_dx[k]);
  }
}

bool all_finite(std::size_t n, const double* values) {
  // Zero times what is not finite is not a number.
  Four sum = {0.0, 0.0, 0.0, 0.0};
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) sum += load(values + k) * 0.0;
  for (; k < n; ++k) sum[0] += values[k] * 0.0;
  return sum[0] + sum[1] + sum[2] + sum[3] == 0.0;
}

}  // namespace

extern const StageKernels SALTUS_STAGE_KERNELS;
const StageKernels SALTUS_STAGE_KERNELS = {.multiply = multiply,
                                           .add_start = add_start,
                                           .add_start_and_multiply = add_start_and_multiply,
                                           .interpolate = interpolate,
                                           .multiply_and_measure = multiply_and_measure,
                                           .add = add,
                                           .spread = spread,
                                           .mix = mix,
                                           .all_finite = all_finite};

}  // namespace saltus
