#pragma once

#include <cstddef>
#include <cstdint>

namespace saltus {

// Loops of Radau IIA over its unknowns. What belongs to the three stages of an unknown, or to the
// real and the complex system of a step, lies side by side: four doubles, the last of which repeats
// the third or is zero. Four doubles are a register of processors with AVX2.
struct StageKernels {
  // Columns of a matrix with three columns and four rows.
  struct Matrix {
    double column[3][4];
  };

  // out_j = matrix * in_j, of which three numbers are read.
  void (*multiply)(std::size_t n, const Matrix& matrix, const double* in, double* out);
  // x_j = x0_j + z_j
  void (*add_start)(std::size_t n, const double* x0, const double* z, double* x);
  // The same with dx_j = matrix * z_j.
  void (*add_start_and_multiply)(std::size_t n, const double* x0, const Matrix& matrix,
                                 const double* z, double* x, double* dx);
  // x_j = x0_j + matrix * z_j for the j that are listed.
  void (*interpolate)(std::size_t count, const std::uint32_t* list, const double* x0,
                      const Matrix& matrix, const double* z, double* x);
  // out_j = matrix * in_j with the sum of squares of the first three rows of all out_j, each times
  // its weight.
  double (*multiply_and_measure)(std::size_t n, const Matrix& matrix, const double* in,
                                 const double* weights, double* out);
  // z_j += update_j
  void (*add)(std::size_t n, const double* update, double* z);
  // out_k = by_x_k in the real and the complex system
  void (*spread)(std::size_t n, const double* by_x, double* out);
  // The same with by_dx_k * along_dx added, for the k that are listed.
  void (*mix)(std::size_t count, const std::uint32_t* list, const double* by_x, const double* by_dx,
              const double (&along_dx)[4], double* out);
  // Whether all numbers are finite.
  bool (*all_finite)(std::size_t n, const double* values);
};

// The fastest this processor can do.
const StageKernels& stage_kernels();

}  // namespace saltus
