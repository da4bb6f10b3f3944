#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace saltus {

// Values of one parameter, as `--vary NAME=...` or `--normal NAME=MEAN,DEVIATION` says:
//
//   J=0.1:0.1:2      from 0.1 in steps of 0.1 to 2
//   k=log:1:1e4:20   20 values from 1 to 1e4 with equal ratios;   lin:1:5:9 with equal steps
//   e=0.5,0.7,0.9    these
//   m=1:3            an interval, log:1:100 one with equal weight per decade: to be sampled
struct Factor {
  enum class Law { kUniform, kLogarithmic, kNormal };

  std::string name;
  std::vector<double> values;  // empty: an interval or a distribution, from which samples are taken
  Law law = Law::kUniform;
  double from = 0.0;  // lowest value; mean of a normal law
  double to = 0.0;    // highest value; standard deviation of a normal law

  // The value below which a fraction u of the samples lies, 0 < u < 1.
  double quantile(double u) const;
};

// Throw Error that says what would have been right: no '=', an empty range, what is no number.
Factor parse_factor(const std::string& text);
Factor parse_normal(const std::string& text);

enum class Plan {
  kGrid,    // every combination, the last factor varies fastest
  kZip,     // the first values, the second values, ...
  kRandom,  // independent samples
  kLatin,   // Latin hypercube: each factor's range in N equal parts, one sample in each
  kSobol,   // Sobol's sequence, which fills the space evenly
  // For Sobol indices: two samples A and B of N points from Sobol's sequence, then for each factor
  // A with that factor from B; N (factors + 2) runs.
  kIndices,
};

// Which values the parameters have in each run of a study.
struct Design {
  Plan plan = Plan::kGrid;
  std::vector<std::string> names;
  std::vector<double> values;      // values[run * names.size() + factor]
  std::vector<std::size_t> shape;  // of a grid: number of values of each factor

  std::size_t runs() const { return names.empty() ? 0 : values.size() / names.size(); }
  const double* run(std::size_t k) const { return values.data() + k * names.size(); }
};

// A larger design is refused: it is a slip of the pen.
constexpr std::size_t kMostRuns = 10'000'000;

// `samples` and `seed` are for plans that take samples. Throws Error for factors of equal name,
// lists of different length under kZip, intervals where values are needed, too many runs.
Design make_design(const std::vector<Factor>& factors, Plan plan, std::size_t samples,
                   std::uint64_t seed);

// Point `index` of Sobol's sequence in a dimension below kSobolDimensions, in [0, 1); direction
// numbers of Joe and Kuo (2008).
constexpr std::size_t kSobolDimensions = 21;
double sobol_point(std::size_t index, std::size_t dimension);

// The inverse of the normal distribution function, to rounding; 0 < u < 1.
double normal_quantile(double u);

}  // namespace saltus
