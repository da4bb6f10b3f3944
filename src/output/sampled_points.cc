#include "output/sampled_points.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace saltus {

void SampledPoints::begin(const Trajectory& layout) {
  const std::size_t before = points_.columns;
  const std::size_t after = layout.width();
  points_.columns = after;
  if (points_.size() == 0 || before == after) return;
  std::vector<double, LargePages<double>> wider(points_.size() * after,
                                                std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < points_.size(); ++i)
    std::copy_n(points_.values.data() + i * before, before, wider.data() + i * after);
  points_.values = std::move(wider);
}

void SampledPoints::store(double time, ModeId mode, const double* columns) {
  const bool is_second_side = points_.size() > 0 && points_.time.back() == time;
  if (last_is_provisional_ && !is_second_side) {
    points_.time.pop_back();
    points_.mode.pop_back();
    points_.values.resize(points_.values.size() - points_.columns);
  }
  if (points_.size() * (points_.columns + 2) >= most_numbers_) thin_out();
  last_is_provisional_ = !is_second_side && ++since_kept_ < stride_;
  if (!last_is_provisional_ && !is_second_side) since_kept_ = 0;
  points_.time.push_back(time);
  points_.mode.push_back(mode);
  points_.values.insert(points_.values.end(), columns, columns + points_.columns);
}

bool SampledPoints::is_side_of_event(std::size_t i) const {
  return (i > 0 && points_.time[i - 1] == points_.time[i]) ||
         (i + 1 < points_.size() && points_.time[i + 1] == points_.time[i]);
}

void SampledPoints::thin_out() {
  stride_ *= 2;
  std::vector<bool> keep(points_.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    keep[i] = i % 2 == 0 || is_side_of_event(i);
    kept += keep[i] ? 1 : 0;
  }
  const bool nearly_all = kept > keep.size() / 4 * 3;  // are events
  std::size_t to = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (nearly_all ? i % 2 != 0 : !keep[i]) continue;
    points_.time[to] = points_.time[i];
    points_.mode[to] = points_.mode[i];
    std::copy_n(points_.values.data() + i * points_.columns, points_.columns,
                points_.values.data() + to * points_.columns);
    ++to;
  }
  points_.time.resize(to);
  points_.mode.resize(to);
  points_.values.resize(to * points_.columns);
}

void SampledPoints::move_to(Trajectory& trajectory) {
  trajectory.time = std::move(points_.time);
  trajectory.mode = std::move(points_.mode);
  trajectory.values = std::move(points_.values);
}

}  // namespace saltus
