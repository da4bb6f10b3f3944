#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "output/axis.h"
#include "simulate/result.h"

namespace saltus {

// Signals drawn against time in one frame: same unit, comparable size.
struct Panel {
  std::string unit;
  std::vector<std::size_t> signals;
};

inline constexpr std::size_t kSeriesColors = 6;  // most signals in one panel

// Groups the signals for plotting: those of the model itself, of its components, derivatives. At
// most `most` panels; signals that find no place are left out.
std::vector<Panel> choose_panels(const Trajectory& trajectory, std::size_t most);

// A point in the drawing; `starts` if the line is interrupted before it (an event, a gap in the
// data).
struct PlotPoint {
  double x;
  double y;
  bool starts;
};

// Places one signal in a frame of width x height with the origin at the upper left. Of each unit of
// width there remain the first, lowest, highest and last point (on both sides of an event), so a
// million points stay small and no peak is lost.
std::vector<PlotPoint> place(const Trajectory& trajectory, std::size_t signal, const Axis& time,
                             const Axis& value, double width, double height);

// An <svg> element: curves of class s1..s6, mode bands, events as vertical lines, the two sides of
// a jump marked. Colours come from the style sheet of the page.
std::string plot_svg(const Trajectory& trajectory, const Panel& panel,
                     std::span<const Event> events);

std::string escape_html(const std::string& text);

}  // namespace saltus
