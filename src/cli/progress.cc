#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace saltus {
namespace {

// A terminal that goes away is no reason to end a run.
void show(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

// From the pace so far; nothing while that says little.
std::string time_left(double share, double passed) {
  if (!(share > 0.01) || passed < 2.0) return {};
  const double left = passed * (1.0 - share) / share;
  if (left < 100.0) return fmt::format("   about {:.0f} s left", left);
  if (left < 6000.0) return fmt::format("   about {:.0f} min left", left / 60.0);
  return fmt::format("   about {:.0f} h left", left / 3600.0);
}

}  // namespace

ProgressLine::ProgressLine(double start_time, double stop_time, bool wanted)
    : start_time_(start_time),
      stop_time_(stop_time),
      enabled_(wanted && stop_time > start_time && isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (!shown_) return;
  show("\r\x1b[K");
}

void ProgressLine::update(double time, std::string_view what) {
  constexpr std::size_t kCallsPerLook = 16;  // a step may take less than reading the clock
  if (!enabled_ || ++calls_ % kCallsPerLook != 0) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  shown_ = true;
  const double share = (time - start_time_) / (stop_time_ - start_time_);
  const double passed = std::chrono::duration<double>(now - start_).count();
  show(fmt::format(
      "\r{}{:5.1f} %   t = {:.6g} of {:g} s{}   (Ctrl-C stops and keeps the results)\x1b[K", what,
      100.0 * share, time, stop_time_, time_left(share, passed)));
}

}  // namespace saltus
