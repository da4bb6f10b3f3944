#include "study/study.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <numbers>

#include "base/error.h"
#include "study/journal.h"
#include "study/summary.h"
#include "study/workers.h"

namespace saltus {
namespace {

// x falls from 1 as e^(-k t) and stops at 1/2: the run has an event if k t > log 2.
HybridSystem decay() {
  HybridSystem s("decay");
  const Expr x = s.variable("x", {.start = 1.0});
  const Expr k = s.parameter("k", 1.0, {.unit = "1/s", .description = "rate"});
  Mode& falling = s.mode("falling");
  falling.equations = {der(x) == -k * x};
  falling.guards = {{.name = "half", .value = x - 0.5, .to = "still"}};
  s.mode("still").equations = {der(x) == 0.0};
  s.experiment.stop_time = 1.0;
  return s;
}

Study study_of(const std::vector<std::string>& factors, std::vector<std::string> records) {
  Study study;
  study.translate = [](const Settings& settings) {
    TranslatedModel model{decay()};
    for (const auto& [name, value] : settings) model.system.set(name, value);
    return model;
  };
  std::vector<Factor> all;
  for (const std::string& text : factors) all.push_back(parse_factor(text));
  study.design = make_design(all, Plan::kGrid, 0, 1);
  for (const std::string& text : records) study.records.push_back(parse_record(text));
  return study;
}

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("saltus-study-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

TEST(Study, RunsHaveTheirParametersAndModes) {
  const PreparedStudy study(study_of({"k=0.25:0.25:1"}, {"x", "max(x)"}));
  ASSERT_EQ(study.runs(), 4U);
  EXPECT_EQ(study.factors()[0].unit, "1/s");
  std::vector<StudyRun> runs;
  for (std::size_t k = 0; k < 4; ++k) runs.push_back(study.run(k));
  for (std::size_t k = 0; k < 4; ++k) {
    ASSERT_TRUE(runs[k].completed) << runs[k].message;
    const double rate = 0.25 * static_cast<double>(k + 1);
    EXPECT_NEAR(runs[k].values[0], std::max(0.5, std::exp(-rate)), 1e-6);
    EXPECT_EQ(runs[k].values[1], 1.0);
    EXPECT_EQ(runs[k].modes, rate > std::log(2.0) ? "falling, still" : "falling");
  }
  const std::vector<SequenceChange> changes = sequence_changes(study.study().design, runs);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].from, 1U);
  EXPECT_EQ(changes[0].to, 2U);
  EXPECT_EQ(read_runs(write_runs(runs))[2].modes, runs[2].modes);
}

TEST(Study, KnowsWrongNamesBeforeItRuns) {
  EXPECT_THROW(PreparedStudy(study_of({"q=1,2"}, {"x"})), Error);
  EXPECT_THROW(PreparedStudy(study_of({"k=1,2"}, {"y"})), Error);
}

TEST(Study, DoesNotDependOnTheNumberOfWorkers) {
  const Folder folder;
  const PreparedStudy study(study_of({"k=lin:0.1:3:150"}, {"x"}));
  std::string bytes[2];
  for (std::size_t jobs : {1, 3}) {
    WorkOptions options;
    options.jobs = jobs;
    options.journal = folder / "journal";
    std::vector<StudyRun> runs = run_study(study, options);
    remove_journal(options);
    ASSERT_EQ(runs.size(), 150U);
    for (StudyRun& run : runs) run.seconds = 0.0;
    bytes[jobs == 1 ? 0 : 1] = write_runs(runs);
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(Study, GoesOnWhereAnotherWasKilled) {
  const Folder folder;
  const PreparedStudy study(study_of({"k=lin:0.1:3:100"}, {"x"}));
  WorkOptions options;
  options.journal = folder / "journal";
  // Some blocks are filed, one is torn.
  {
    EXPECT_THROW(run_study(study,
                           [&] {
                             WorkOptions resume = options;
                             resume.resume = true;
                             return resume;
                           }()),
                 Error);  // there is nothing to go on with
  }
  const std::vector<StudyRun> whole = run_study(study, options);
  Journal journal(options.journal, study.blocks());
  EXPECT_EQ(journal.filed(), study.blocks());
  EXPECT_THROW(run_study(study, options), Error);  // its results are not thrown away
  std::filesystem::resize_file(options.journal + "/blocks", study.blocks() / 2);
  std::filesystem::resize_file(options.journal + "/blocks", study.blocks());
  EXPECT_EQ(journal.filed(), study.blocks() / 2);
  options.resume = true;
  std::vector<StudyRun> resumed = run_study(study, options);
  ASSERT_EQ(resumed.size(), whole.size());
  for (std::size_t k = 0; k < whole.size(); ++k) EXPECT_EQ(resumed[k].values, whole[k].values);
  const PreparedStudy other(study_of({"k=lin:0.1:4:100"}, {"x"}));
  EXPECT_THROW(run_study(other, options), Error);
}

// A process that dies takes one run with it, not the study.
TEST(Study, KeepsRunsThatCrash) {
  Study study = study_of({"k=1,2,3"}, {"x"});
  study.options.progress = {};
  const auto translate = study.translate;
  study.translate = [translate](const Settings& settings) {
    if (!settings.empty() && settings[0].second == 2.0) std::raise(SIGKILL);
    TranslatedModel model = translate(settings);
    model.used.insert("k");  // so that it is translated for every run
    return model;
  };
  const PreparedStudy prepared(std::move(study));
  ASSERT_TRUE(prepared.translates_every_run());
  std::vector<StudyRun> runs;
  for (std::size_t block = 0; block < prepared.blocks(); ++block)
    for (StudyRun& run : prepared.run_block(block, [](std::size_t) {})) runs.push_back(run);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_TRUE(runs[0].completed);
  EXPECT_EQ(runs[1].status, "crashed");
  EXPECT_TRUE(std::isnan(runs[1].values[0]));
  EXPECT_TRUE(runs[2].completed);
}

// Ishigami's function, whose indices are known: a = 7, b = 0.1 (Sobol and Levitan 1999).
TEST(Uncertainty, SobolIndicesOfIshigamisFunction) {
  std::vector<Factor> factors;
  for (const char* name : {"x", "y", "z"}) {
    Factor f;
    f.name = name;
    f.from = -std::numbers::pi;
    f.to = std::numbers::pi;
    factors.push_back(f);
  }
  const Design design = make_design(factors, Plan::kIndices, 8192, 1);
  std::vector<StudyRun> runs(design.runs());
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const double* v = design.run(k);
    runs[k].completed = true;
    runs[k].values = {std::sin(v[0]) + 7.0 * std::pow(std::sin(v[1]), 2) +
                      0.1 * std::pow(v[2], 4) * std::sin(v[0])};
  }
  const std::vector<SobolIndex> s = sobol_indices(design, runs, 0);
  EXPECT_NEAR(s[0].first, 0.3139, 0.005);
  EXPECT_NEAR(s[1].first, 0.4424, 0.005);
  EXPECT_NEAR(s[2].first, 0.0, 0.005);
  EXPECT_NEAR(s[0].total, 0.5576, 0.005);
  EXPECT_NEAR(s[1].total, 0.4424, 0.005);
  EXPECT_NEAR(s[2].total, 0.2437, 0.005);
}

TEST(Uncertainty, QuantilesOfKnownNumbers) {
  std::vector<StudyRun> runs(5);
  for (std::size_t k = 0; k < 5; ++k) {
    runs[k].completed = k < 4;
    runs[k].values = {k < 4 ? static_cast<double>(k) : 1e9};
  }
  const Distribution d = distribution(runs, 0);
  EXPECT_EQ(d.runs, 4U);
  EXPECT_EQ(d.mean, 1.5);
  EXPECT_NEAR(d.deviation, std::sqrt(5.0 / 3.0), 1e-15);
  EXPECT_NEAR(d.quantile_05, 0.15, 1e-15);
  EXPECT_EQ(d.median, 1.5);
}

}  // namespace
}  // namespace saltus
