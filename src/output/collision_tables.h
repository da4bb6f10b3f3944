#pragma once

#include <string>
#include <vector>

#include "realtime/collision.h"
#include "realtime/delta_error.h"

namespace saltus {

// A case of RE chapter 4 by several methods: a table for reading, the points, and a complete SVG
// file with positions and energy, one column a method.
std::string collisions_text(const CollisionCase& what, const std::vector<CollisionRun>& runs);
std::string collisions_csv(const std::vector<CollisionRun>& runs);
std::string collisions_svg(const CollisionCase& what, const std::vector<CollisionRun>& runs);

// RE Appendix A: the table, and Figures 94 and 95.
std::string delta_text(const std::vector<DeltaErrorRow>& rows);
std::string delta_svg(const std::vector<DeltaErrorRow>& rows);

}  // namespace saltus
