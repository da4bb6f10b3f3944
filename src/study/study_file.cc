#include "study/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/version.h"
#include "output/file.h"
#include "output/hdf5_file.h"

namespace saltus {
namespace {

std::string extension_of(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string csv_text(const PreparedStudy& study, const std::vector<StudyRun>& runs) {
  const Design& design = study.study().design;
  std::string text = "run";
  // What a record has in common with a column before or after it gets another name.
  std::set<std::string> taken = {"run", "status", "end_time", "events", "modes", "message"};
  const auto heading = [&](const std::string& wanted) {
    std::string name = wanted;
    while (!taken.insert(name).second) name += "_";
    const std::string& made = name;
    text += "," + quoted(made);
  };
  for (const std::string& name : design.names) heading(name);
  for (const RunRecord& record : study.study().records) heading(record.name);
  text += ",status,end_time,events,modes,message\n";
  for (std::size_t k = 0; k < runs.size(); ++k) {
    text += fmt::format("{}", k);
    for (std::size_t j = 0; j < design.names.size(); ++j)
      text += fmt::format(",{}", design.run(k)[j]);
    for (const double value : runs[k].values) text += fmt::format(",{}", value);
    text += fmt::format(",{},{},{},{},{}\n", quoted(runs[k].status), runs[k].time, runs[k].events,
                        quoted(runs[k].modes), quoted(runs[k].message));
  }
  return text;
}

// Names of variables as netCDF allows them: no '/', and a letter, digit or '_' at the beginning.
class Names {
 public:
  std::string make(const std::string& wanted) {
    std::string name = wanted;
    std::replace(name.begin(), name.end(), '/', '|');
    const auto first = static_cast<unsigned char>(name.empty() ? ' ' : name.front());
    if (std::isalnum(first) == 0 && first != '_' && first < 0x80) name.insert(0, "_");
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

 private:
  std::set<std::string> taken_;
};

const char* plan_name(Plan plan) {
  switch (plan) {
    case Plan::kGrid:
      return "grid";
    case Plan::kZip:
      return "zip";
    case Plan::kRandom:
      return "random";
    case Plan::kLatin:
      return "latin";
    case Plan::kSobol:
      return "sobol";
    case Plan::kIndices:
      return "indices";
  }
  return "";
}

void write_hdf5(const PreparedStudy& study, const std::vector<StudyRun>& runs,
                const std::string& path) {
  const Design& design = study.study().design;
  const std::size_t n = runs.size();
  Hdf5File file(path);
  file.attribute("model", study.model());
  file.attribute("source", fmt::format("saltus {}", kVersion));
  file.attribute("plan", plan_name(design.plan));
  if (!design.shape.empty()) {
    std::string shape;
    for (const std::size_t size : design.shape) shape += fmt::format(" {}", size);
    file.attribute("grid_shape", shape.substr(1));
  }
  Names names;
  std::vector<long long> numbers(n);
  for (std::size_t k = 0; k < n; ++k) numbers[k] = static_cast<long long>(k);
  file.dimension(names.make("run"), numbers);
  std::vector<double> values(n);
  const auto column = [&](const std::string& name, const SignalInfo& info, const auto& value) {
    for (std::size_t k = 0; k < n; ++k) values[k] = value(k);
    file.variable(names.make(name), values);
    if (!info.unit.empty()) file.variable_attribute("units", info.unit);
    if (!info.description.empty()) file.variable_attribute("long_name", info.description);
  };
  const auto texts = [&](const std::string& name, const char* about, const auto& text) {
    std::vector<std::string> all;
    for (const StudyRun& run : runs) all.push_back(text(run));
    file.variable(names.make(name), all);
    file.variable_attribute("long_name", about);
  };
  // These come first: a parameter of one of these names has another one in the file.
  texts("status", "completed, terminated, or why the run ended early",
        [](const StudyRun& run) { return run.status; });
  texts("message", "what happened", [](const StudyRun& run) { return run.message; });
  texts("modes", "modes that held, in order", [](const StudyRun& run) { return run.modes; });
  column("end_time", {"end_time", "s", "time reached"},
         [&](std::size_t k) { return runs[k].time; });
  for (std::size_t k = 0; k < n; ++k) numbers[k] = static_cast<long long>(runs[k].events);
  file.variable(names.make("events"), numbers);
  file.variable_attribute("long_name", "number of events");
  for (std::size_t j = 0; j < design.names.size(); ++j)
    column(design.names[j], study.factors()[j], [&](std::size_t k) { return design.run(k)[j]; });
  const std::vector<RunRecord>& records = study.study().records;
  for (std::size_t j = 0; j < records.size(); ++j)
    column(records[j].name, {records[j].name, "", records[j].text},
           [&](std::size_t k) { return runs[k].values[j]; });
  file.finish();
}

}  // namespace

void check_study_file(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension == ".csv") return;
  if (extension != ".h5" && extension != ".hdf5" && extension != ".nc")
    throw Error(fmt::format("--output {}: a study is written as .h5 or .csv", path));
  if (!Hdf5File::is_supported())
    throw Error(fmt::format("--output {}: this Saltus was built without HDF5; write .csv", path));
}

void write_study(const PreparedStudy& study, const std::vector<StudyRun>& runs,
                 const std::string& path) {
  check_study_file(path);
  if (extension_of(path) == ".csv") {
    write_file(path, csv_text(study, runs));
  } else {
    write_hdf5(study, runs, path);
  }
}

}  // namespace saltus
