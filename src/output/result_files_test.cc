#include "output/result_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "output/ball_test_data.h"
#include "output/csv.h"
#include "output/hdf5.h"
#include "output/hdf5_file.h"
#include "output/mat.h"

namespace saltus {
namespace {

namespace fs = std::filesystem;

const Trajectory& points() {
  static const Trajectory trajectory = ball_result().trajectory;
  return trajectory;
}

Trajectory layout_of(const Trajectory& trajectory) {
  Trajectory layout;
  layout.signals = trajectory.signals;
  layout.parameters = trajectory.parameters;
  layout.parameter_values = trajectory.parameter_values;
  layout.sources = trajectory.sources;
  layout.columns = trajectory.columns;
  return layout;
}

void store_all(ResultFiles& files) {
  const Trajectory& from = points();
  for (std::size_t i = 0; i < from.size(); ++i)
    files.store(from.time[i], from.mode[i], from.values.data() + i * from.width());
}

std::string finish(ResultFiles& files) {
  std::vector<std::string> written;
  std::vector<std::string> failures;
  files.finish(written, failures);
  return failures.empty() ? "" : failures.front();
}

TEST(ResultFiles, AreThoseOfTheWholeTrajectory) {
  const TemporaryFolder folder;
  ResultFiles files(folder / "", "ball", {"csv", "mat"}, false);
  files.begin(layout_of(points()));
  store_all(files);
  EXPECT_TRUE(fs::exists(folder / "ball.partial.csv"));
  EXPECT_FALSE(fs::exists(folder / "ball.csv"));
  EXPECT_EQ(finish(files), "");
  EXPECT_FALSE(fs::exists(folder / "ball.partial.csv"));
  write_csv(points(), folder / "whole.csv");
  write_mat(points(), folder / "whole.mat");
  EXPECT_EQ(read_text(folder / "ball.csv"), read_text(folder / "whole.csv"));
  EXPECT_EQ(read_text(folder / "ball.mat"), read_text(folder / "whole.mat"));
}

TEST(ResultFiles, PartialFilesStayWhereARunDoesNotEnd) {
  const TemporaryFolder folder;
  {
    ResultFiles files(folder / "", "ball", {"csv", "mat"}, false);
    files.begin(layout_of(points()));
    store_all(files);
  }
  write_csv(points(), folder / "whole.csv");
  write_mat(points(), folder / "whole.mat");
  EXPECT_EQ(read_text(folder / "ball.partial.csv"), read_text(folder / "whole.csv"));
  EXPECT_EQ(read_text(folder / "ball.partial.mat"), read_text(folder / "whole.mat"));
  ResultFiles later(folder / "", "ball", {"csv"}, false);
  later.begin(layout_of(points()));
  store_all(later);
  EXPECT_EQ(finish(later), "");
  ASSERT_EQ(later.notes().size(), 1U);
  EXPECT_NE(later.notes()[0].find("left alone"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder / "ball.partial.csv"));
  EXPECT_EQ(read_text(folder / "ball.csv"), read_text(folder / "whole.csv"));
}

TEST(ResultFiles, ColumnsThatComeLaterAreNotANumberBefore) {
  const TemporaryFolder folder;
  ResultFiles files(folder / "", "m", {"csv", "mat"}, false);
  Trajectory layout;
  layout.signals = {{"a\nb", "", ""}};
  files.begin(layout);
  const double first[] = {1.0, 2.0};
  files.store(0.0, ModeId(0), first);
  layout.signals.push_back({"c", "", ""});
  files.begin(layout);
  files.store(1.0, ModeId(0), first);
  EXPECT_EQ(finish(files), "");
  EXPECT_EQ(read_text(folder / "m.csv"), "time,\"a\nb\",c\n0,1,nan\n1,1,2\n");
  Trajectory whole = layout;
  whole.time = {0.0, 1.0};
  whole.mode = {ModeId(0), ModeId(0)};
  whole.values = {1.0, std::numeric_limits<double>::quiet_NaN(), 1.0, 2.0};
  write_mat(whole, folder / "whole.mat");
  EXPECT_EQ(read_text(folder / "m.mat"), read_text(folder / "whole.mat"));
}

TEST(ResultFiles, Hdf5IsMadeOfWhatWasKeptInTheMeantime) {
  if (!Hdf5File::is_supported()) GTEST_SKIP() << "built without HDF5";
  const TemporaryFolder folder;
  for (int k = 0; k < 2; ++k) {
    ResultFiles files(folder / "", "ball", {"h5"}, false);
    files.begin(layout_of(points()));
    store_all(files);
    EXPECT_TRUE(fs::exists(folder / "ball.partial.mat"));
    EXPECT_EQ(finish(files), "");
    EXPECT_TRUE(files.notes().empty());
  }
  EXPECT_FALSE(fs::exists(folder / "ball.partial.mat"));
  EXPECT_FALSE(fs::exists(folder / "ball.mat"));
  EXPECT_FALSE(hdf5_differs(points(), folder / "ball.h5"));
  // Another model of the same name does not take its place.
  Trajectory other = points();
  other.signals[0].unit = "parsec";
  ResultFiles files(folder / "", "ball", {"h5"}, false);
  files.begin(layout_of(other));
  store_all(files);
  EXPECT_EQ(finish(files), "");
  EXPECT_EQ(files.notes().size(), 1U);
  EXPECT_FALSE(hdf5_differs(points(), folder / "ball.previous.h5"));
  EXPECT_FALSE(hdf5_differs(other, folder / "ball.h5"));
}

TEST(ResultFiles, RunsAtTheSameTimeKeepTheirResultsApart) {
  const TemporaryFolder folder;
  ResultFiles one(folder / "", "ball", {"csv"}, false);
  ResultFiles two(folder / "", "ball", {"csv"}, false);
  for (ResultFiles* files : {&one, &two}) {
    files->begin(layout_of(points()));
    store_all(*files);
  }
  EXPECT_EQ(finish(one), "");
  EXPECT_EQ(finish(two), "");
  EXPECT_EQ(read_text(folder / "ball.csv"), read_text(folder / "ball-2.csv"));
}

TEST(ResultFiles, NamesOfModelsDoNotLeaveTheFolder) {
  EXPECT_EQ(file_stem("Saltus.Examples.NAG"), "Saltus.Examples.NAG");
  EXPECT_EQ(file_stem("'/../../../evil'"), "__.._.._.._evil_");
  EXPECT_EQ(file_stem(".."), "_..");
  EXPECT_EQ(file_stem(""), "_");
  EXPECT_EQ(file_stem(std::string("a\0b/c\n", 6)), "a_b_c_");
  EXPECT_LT(file_stem(std::string(1000, 'x')).size(), 200U);
}

TEST(SampledPoints, KeepBothSidesOfEventsWithinBoundedMemory) {
  SampledPoints sample(1000);
  Trajectory layout;
  layout.signals = {{"x", "", ""}};
  layout.columns = 1;
  layout.sources = {{0, 1.0}};
  sample.begin(layout);
  for (int i = 0; i < 100'000; ++i) {
    const double x = i;
    sample.store(i, ModeId(0), &x);
    if (i % 20'000 == 10'001) sample.store(i, ModeId(1), &x);  // the other side of an event
  }
  Trajectory result;
  sample.move_to(result);
  EXPECT_LE(result.size(), 1000U / 3);
  EXPECT_GT(result.size(), 100U);
  EXPECT_EQ(result.time.front(), 0.0);
  EXPECT_EQ(result.time.back(), 99'999.0);
  int events = 0;
  for (std::size_t i = 1; i < result.size(); ++i) {
    EXPECT_LE(result.time[i - 1], result.time[i]);
    events += result.time[i - 1] == result.time[i] ? 1 : 0;
  }
  EXPECT_EQ(events, 5);
}

}  // namespace
}  // namespace saltus
