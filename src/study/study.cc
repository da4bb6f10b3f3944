#include "study/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/processor_time.h"
#include "model/input_data.h"

namespace saltus {
namespace {

constexpr std::size_t kMostModes = 200;  // of a sequence that are written down

Settings settings_of(const Design& design, std::size_t run) {
  Settings settings;
  for (std::size_t j = 0; j < design.names.size(); ++j)
    settings.emplace_back(design.names[j], design.run(run)[j]);
  return settings;
}

// Modes without a name of their own are numbered in the order of visits, which differs from run to
// run: their conditions say which they are.
std::string label_of(const ModeReport& mode) {
  const bool is_numbered = mode.name.size() > 1 && mode.name[0] == 'm' &&
                           std::all_of(mode.name.begin() + 1, mode.name.end(),
                                       [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!is_numbered || mode.conditions.empty()) return mode.name;
  return fmt::format("{{{}}}", fmt::join(mode.conditions, ", "));
}

std::string sequence_of(const std::vector<ModeId>& modes, const SimulateResult& result) {
  std::map<std::string, std::string> labels;
  for (const ModeReport& mode : result.modes) labels[mode.name] = label_of(mode);
  std::vector<std::string> names;
  for (const ModeId id : modes) {
    const std::string& name = result.trajectory.mode_names[id.index()];
    const auto label = labels.find(name);
    names.push_back(label == labels.end() ? name : label->second);
  }
  // Different ids may have one label.
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::size_t left_out = names.size() > kMostModes ? names.size() - kMostModes : 0;
  if (left_out > 0) names.resize(kMostModes);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (left_out > 0) text += fmt::format(", and {} more", left_out);
  return text;
}

// The model with the values of the first run where others are not given: it need not have any.
CompiledModel::Source first_run_of(const Study& study) {
  if (study.design.runs() == 0) throw Error("the study has no runs");
  return [translate = study.translate,
          first = settings_of(study.design, 0)](const Settings& settings) {
    Settings all = settings;
    for (const auto& [name, value] : first)
      if (std::ranges::none_of(settings, [&name = name](const auto& s) { return s.first == name; }))
        all.emplace_back(name, value);
    return translate(all);
  };
}

// Remembers the names of the results.
class LayoutSink : public ResultSink {
 public:
  void begin(const Trajectory& layout) override { layout_ = layout; }
  void store(double, ModeId, const double*) override {}
  const Trajectory& layout() const { return layout_; }

 private:
  Trajectory layout_;
};

template <class Number>
void put(std::string& bytes, Number value) {
  char raw[sizeof(Number)];
  std::memcpy(raw, &value, sizeof(Number));
  bytes.append(raw, sizeof(Number));
}

void put(std::string& bytes, const std::string& text) {
  put(bytes, static_cast<std::uint64_t>(text.size()));
  bytes += text;
}

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  bool ended() const { return at_ >= bytes_.size(); }

  template <class Number>
  Number number() {
    Number value{};
    require(sizeof(Number));
    std::memcpy(&value, bytes_.data() + at_, sizeof(Number));
    at_ += sizeof(Number);
    return value;
  }
  std::string text() {
    const auto size = static_cast<std::size_t>(number<std::uint64_t>());
    require(size);
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

 private:
  void require(std::size_t size) const {
    if (size > bytes_.size() - at_) throw Error("the results of a run are damaged");
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
};

StudyRun failed(std::string status, std::string message, std::size_t records) {
  StudyRun run;
  run.status = std::move(status);
  run.message = std::move(message);
  run.time = std::numeric_limits<double>::quiet_NaN();
  run.values.assign(records, std::numeric_limits<double>::quiet_NaN());
  return run;
}

bool send(int pipe, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t sent = write(pipe, bytes.data() + at, bytes.size() - at);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += static_cast<std::size_t>(sent);
  }
  return true;
}

// Exactly so many bytes; false at the end of what there is.
bool receive(int pipe, char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = read(pipe, data, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

PreparedStudy::PreparedStudy(Study study) : study_(std::move(study)), model_(first_run_of(study_)) {
  const Design& design = study_.design;
  std::set<std::string> names_of_records;
  for (const RunRecord& record : study_.records)
    if (!names_of_records.insert(record.name).second)
      throw Error(fmt::format(
          "two records are called '{0}'; give one another name: --record \"other = {0}\"",
          record.name));
  run_ = std::make_unique<CompiledModel::Run>(model_);
  for (const std::string& name : design.names) {
    SignalInfo info{name, {}, {}};
    const auto parameter = std::ranges::find(model_.parameters(), name, &ParameterValue::name);
    if (parameter != model_.parameters().end()) {
      info.unit = parameter->unit;
      info.description = parameter->description;
    }
    translates_ = translates_ || model_.decides_structure(name);
    factors_.push_back(std::move(info));
  }
  if (!translates_) run_->set(settings_of(design, 0));  // Error for what is no start value
  LayoutSink names;
  SimulateOptions options = study_.options;
  options.sink = &names;
  const HybridSystem& system = run_->system();
  const double start = options.start_time.value_or(system.experiment.start_time);
  require_data(system, start, options.stop_time.value_or(system.experiment.stop_time));
  options.stop_time = start;
  options.interval = 0.0;
  try {
    run_->simulate(options);
  } catch (const Error&) {
    // With other values it may be right; then this run fails and the others do not.
    if (names.layout().signals.empty()) throw;
  }
  RecordSink(study_.records).begin(names.layout());
}

std::size_t PreparedStudy::block_size() const {
  // Enough blocks for many workers, and few enough that starting them costs little.
  return std::clamp<std::size_t>(runs() / 64, 1, 256);
}

// Every block begins with the modes that the first steps of the first run meet: so much for all
// studies alike, whoever works at them and however long a run is.
void PreparedStudy::warm_up() const {
  constexpr std::size_t kFewRuns = 16;  // not worth it
  constexpr std::size_t kWork = 1000000;
  constexpr std::size_t kMostSteps = 3000;
  if (std::exchange(is_warm_, true) || translates_ || runs() < kFewRuns) return;
  const auto begin = [&] {
    SimulateOptions options = study_.options;
    options.max_steps = std::min(kMostSteps, kWork / (run_->system().variables().size() + 1) + 1);
    run(0, options);
  };
  // A run that takes its process with it is met by the block that it belongs to.
  const pid_t child = fork();
  if (child == 0) {
    begin();
    _exit(0);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (child > 0 && WIFEXITED(status)) begin();
}

StudyRun PreparedStudy::run(std::size_t index) const { return run(index, study_.options); }

StudyRun PreparedStudy::run(std::size_t index, SimulateOptions options) const {
  const double begun = processor_seconds();
  StudyRun run;
  try {
    run_->set(settings_of(study_.design, index));
    RecordSink sink(study_.records);
    options.sink = &sink;
    options.progress = {};
    options.stop_requested = nullptr;
    const SimulateResult result = run_->simulate(options);
    run.completed = result.completed();
    run.status = result.reason == StopReason::kStopTime ? "completed" : to_string(result.reason);
    run.message = result.message;
    run.modes = sequence_of(sink.modes(), result);
    run.time = result.time;
    run.events = result.events.size();
    run.values = sink.values();
  } catch (const Error& error) {
    run = failed("wrong input", error.what(), study_.records.size());
  } catch (const std::bad_alloc&) {
    run = failed("out of memory", "the run needs more memory than there is", study_.records.size());
  } catch (const std::exception& error) {
    run = failed("failed", error.what(), study_.records.size());
  }
  run.seconds = processor_seconds() - begun;
  return run;
}

std::vector<StudyRun> PreparedStudy::run_block(
    std::size_t block, const std::function<void(std::size_t)>& finished) const {
  const std::size_t first = block * block_size();
  const std::size_t last = std::min(first + block_size(), runs());
  warm_up();
  std::vector<StudyRun> results;
  while (first + results.size() < last) {
    int ends[2];
    if (pipe(ends) != 0) throw Error(fmt::format("cannot start a run: {}", std::strerror(errno)));
    const pid_t child = fork();
    if (child < 0) throw Error(fmt::format("cannot start a run: {}", std::strerror(errno)));
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[0]);
      for (std::size_t k = first + results.size(); k < last; ++k) {
        std::string bytes = write_runs({run(k)});
        std::string message;
        put(message, static_cast<std::uint64_t>(bytes.size()));
        if (!send(ends[1], message + bytes)) break;
      }
      _exit(0);
    }
    close(ends[1]);
    std::uint64_t size = 0;
    while (receive(ends[0], reinterpret_cast<char*>(&size), sizeof(size))) {
      std::string bytes(size, '\0');
      if (!receive(ends[0], bytes.data(), bytes.size())) break;
      results.push_back(read_runs(bytes).front());
      finished(first + results.size() - 1);
    }
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (first + results.size() < last) {
      results.push_back(failed(
          "crashed",
          WIFSIGNALED(status) ? fmt::format("the process of the run was ended by signal {} ({})",
                                            WTERMSIG(status), strsignal(WTERMSIG(status)))
                              : "the process of the run ended without a result",
          study_.records.size()));
      finished(first + results.size() - 1);
    }
  }
  return results;
}

std::string write_runs(const std::vector<StudyRun>& runs) {
  std::string bytes;
  for (const StudyRun& run : runs) {
    put(bytes, static_cast<std::uint8_t>(run.completed));
    put(bytes, run.status);
    put(bytes, run.message);
    put(bytes, run.modes);
    put(bytes, run.time);
    put(bytes, static_cast<std::uint64_t>(run.events));
    put(bytes, run.seconds);
    put(bytes, static_cast<std::uint64_t>(run.values.size()));
    for (const double value : run.values) put(bytes, value);
  }
  return bytes;
}

std::vector<StudyRun> read_runs(const std::string& bytes) {
  std::vector<StudyRun> runs;
  for (Reader reader(bytes); !reader.ended();) {
    StudyRun run;
    run.completed = reader.number<std::uint8_t>() != 0;
    run.status = reader.text();
    run.message = reader.text();
    run.modes = reader.text();
    run.time = reader.number<double>();
    run.events = static_cast<std::size_t>(reader.number<std::uint64_t>());
    run.seconds = reader.number<double>();
    for (auto left = reader.number<std::uint64_t>(); left > 0; --left)
      run.values.push_back(reader.number<double>());
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace saltus
