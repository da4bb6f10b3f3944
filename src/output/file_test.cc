#include "output/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "output/ball_test_data.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/mat.h"
#include "output/report.h"

namespace saltus {
namespace {

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

TEST(OutputFile, ReplacesAnOlderFileOnlyWhenFinished) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.txt";
  write_file(path, "old");
  {
    OutputFile abandoned(path);
    abandoned.write("half");
  }
  EXPECT_EQ(read_text(path), "old");
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
  write_file(path, "new");
  EXPECT_EQ(read_text(path), "new");
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST(OutputFile, WritesThroughALink) {
  const TemporaryFolder folder;
  write_file(folder / "target", "old");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_text(folder / "target"), "new");
}

TEST(OutputFile, NamesPathAndReasonOfAMissingFolder) {
  const TemporaryFolder folder;
  const std::string path = folder / "missing/a.csv";
  EXPECT_EQ(message_of([&] { write_file(path, "x"); }),
            "cannot write '" + path + "': No such file or directory");
}

TEST(OutputFile, NamesPathAndReasonWhenThePathIsAFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of([&] { write_file(folder / "", "x"); }),
            "cannot write '" + (folder / "") + "': Is a directory");
}

TEST(OutputFile, NoticesAFullDiskInEveryFormat) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const SimulateResult result = ball_result();
  const std::string expected = "cannot write '/dev/full': No space left on device";
  EXPECT_EQ(message_of([] { write_file("/dev/full", "x"); }), expected);
  EXPECT_EQ(message_of([&] { write_csv(result.trajectory, "/dev/full"); }), expected);
  EXPECT_EQ(message_of([&] { write_mat(result.trajectory, "/dev/full"); }), expected);
  EXPECT_EQ(message_of([&] { write_json(result, "/dev/full"); }), expected);
  EXPECT_EQ(message_of([&] { write_report(result, "/dev/full"); }), expected);
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/full"));
}

}  // namespace
}  // namespace saltus
