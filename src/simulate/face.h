#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace saltus {

// Where the flow goes from a point that lies on n surfaces at once. A *side* is one of the 2^n
// regions that meet there, numbered by bits: bit i is set where surface i is positive. A *face*
// says for each surface whether the flow leaves to one side of it or slides on it.

// Surfaces that can slide at once: 2^n sides must be solved.
constexpr std::size_t kMaxSurfaces = 4;

enum class Place { kNegative, kPositive, kSliding };

struct Face {
  bool found = false;
  std::vector<Place> places;    // by surface
  std::vector<double> weights;  // by surface: of its positive side; 0 or 1 where it does not slide
  bool slides() const;
};

// rates[b * n + i] is d/dt of surface i along the flow of side b. Prefers a face that leaves more
// surfaces: sliding is what remains when no region lets the flow in. For one surface these are the
// sign conditions of KM (28), (37): the flows of both sides point at the surface. For more, weights
// are multilinear: side b has the product of alpha_i (bit i set) and 1 - alpha_i. Pre: 1 <= n <=
// kMaxSurfaces.
Face choose_face(std::size_t surfaces, std::span<const double> rates);

}  // namespace saltus
