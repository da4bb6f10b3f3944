#include "oracle/judge.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <exception>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus::oracle {

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRight:
      return "right";
    case Outcome::kWrong:
      return "wrong";
    case Outcome::kEndedEarly:
      return "ended early";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kHang:
      return "hang";
    case Outcome::kCrash:
      return "crash";
    case Outcome::kIllPosed:
      return "ill-posed";
    case Outcome::kNoReference:
      return "no reference";
  }
  return "";
}

Bound bound(const Reference& reference, double tolerance) {
  const Range r = range(reference.motion);
  return {100.0 * tolerance * std::max(r.speed, 1e-3) + 10.0 * reference.speed_error,
          100.0 * tolerance * std::max(r.angle, 1e-3) + 10.0 * reference.angle_error};
}

namespace {

// Processor time, so that a loaded machine does not make hangs.
std::atomic<bool> time_is_up{false};

void note_time_limit(int) { time_is_up = true; }

// The stored points at the output times; of two at one time the later.
Motion sampled(const Trajectory& trajectory, const Written& written,
               const std::vector<double>& times) {
  Motion motion;
  motion.times = times;
  std::vector<std::size_t> speeds;
  std::vector<std::size_t> angles;
  for (const std::string& name : written.speeds) speeds.push_back(trajectory.find(name));
  for (const std::string& name : written.angles) angles.push_back(trajectory.find(name));
  std::size_t point = 0;
  for (const double t : times) {
    while (point + 1 < trajectory.size() && trajectory.time[point + 1] <= t + 1e-12 * (1.0 + t))
      ++point;
    const bool there = std::abs(trajectory.time[point] - t) <= 1e-9 * (1.0 + t);
    std::vector<double> w;
    std::vector<double> phi;
    for (const std::size_t s : speeds) w.push_back(there ? trajectory.value(point, s) : NAN);
    for (const std::size_t s : angles) phi.push_back(there ? trajectory.value(point, s) : NAN);
    motion.speeds.push_back(std::move(w));
    motion.angles.push_back(std::move(phi));
  }
  return motion;
}

Verdict run(const Written& written, const Network& network, const Reference& reference,
            const JudgeOptions& options) {
  LoadOptions load{.libraries = {options.library_folder}};
  load.use_modelica_path = false;
  const std::vector<double>& times = reference.motion.times;
  SimulateResult result;
  try {
    result = simulate(
        written.system ? written.system() : build(load_modelica_text(written.text, "", load)),
        {.stop_time = network.stop_time,
         .tolerance = options.tolerance,
         .interval = times[1] - times[0],
         .stop_requested = &time_is_up});
  } catch (const std::exception& error) {
    return {Outcome::kRefused, error.what()};
  }
  if (result.reason == StopReason::kLimit || result.reason == StopReason::kInterrupted)
    return {Outcome::kHang, result.message};
  if (result.reason != StopReason::kStopTime)
    return {Outcome::kEndedEarly, fmt::format("t = {:.6g}: {}", result.time, result.message)};
  const Motion motion = sampled(result.trajectory, written, times);
  const Difference d = difference(motion, reference.motion);
  const Bound b = bound(reference, options.tolerance);
  if (d.speed > b.speed || d.angle > b.angle) {
    // The first time at which it is wrong says more than the worst.
    std::string first;
    for (std::size_t k = 0; k < times.size() && first.empty(); ++k)
      for (std::size_t i = 0; i < network.bodies.size() && first.empty(); ++i) {
        const double e = std::abs(motion.speeds[k][i] - reference.motion.speeds[k][i]);
        if (!(e <= b.speed))
          first = fmt::format("{}({:.3g}) = {:.6g}, reference {:.6g}; ", written.speeds[i],
                              times[k], motion.speeds[k][i], reference.motion.speeds[k][i]);
      }
    return {Outcome::kWrong, fmt::format("{}speed off by {:.2e} (bound {:.1e}), angle by {:.2e} "
                                         "(bound {:.1e})",
                                         first, d.speed, b.speed, d.angle, b.angle)};
  }
  return {Outcome::kRight, fmt::format("speed {:.1e}, angle {:.1e}, {} events", d.speed, d.angle,
                                       result.events.size())};
}

}  // namespace

Verdict judge(const Written& written, const Network& network, const Reference& reference,
              const JudgeOptions& options) {
  int ends[2];
  if (pipe(ends) != 0) return {Outcome::kCrash, "no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const auto limit = static_cast<rlim_t>(std::ceil(options.seconds));
    const rlimit seconds{limit, limit + 5};
    std::signal(SIGXCPU, note_time_limit);
    setrlimit(RLIMIT_CPU, &seconds);
    alarm(static_cast<unsigned>(limit) * 20);  // wall time
    const Verdict verdict = run(written, network, reference, options);
    const std::string text =
        std::string(1, static_cast<char>('0' + static_cast<int>(verdict.outcome))) +
        verdict.reason.substr(0, 2000);
    [[maybe_unused]] const ssize_t count = ::write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  Verdict verdict;
  for (const timeval& part : {used.ru_utime, used.ru_stime})
    verdict.seconds += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
  if (!text.empty()) {
    verdict.outcome = static_cast<Outcome>(text[0] - '0');
    verdict.reason = text.substr(1);
  } else if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL)) {
    verdict.outcome = Outcome::kHang;
    verdict.reason = "no answer within the time limit";
  } else {
    verdict.outcome = Outcome::kCrash;
    verdict.reason = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                         : fmt::format("exit status {}", WEXITSTATUS(status));
  }
  if ((verdict.outcome == Outcome::kWrong || verdict.outcome == Outcome::kEndedEarly) &&
      reference.ill_posed)
    verdict.outcome = Outcome::kIllPosed;
  return verdict;
}

}  // namespace saltus::oracle
