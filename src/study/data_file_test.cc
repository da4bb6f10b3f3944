#include "study/data_file.h"

#include <gtest/gtest.h>
#include <matio.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "output/hdf5_file.h"

namespace saltus {
namespace {

class DataFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("saltus_data_" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

const std::vector<double> kTimes = {0.0, 0.5, 2.0};
const std::vector<double> kValues = {1.0, -3.0, 7.5};

TEST_F(DataFile, ReadsHdf5) {
  if (!Hdf5File::is_supported()) GTEST_SKIP() << "built without HDF5";
  {
    Hdf5File file(path("d.h5"));
    file.dimension("point", {0, 1, 2});
    file.variable("time", kTimes);
    file.variable("torque", kValues);
    file.variable("note", std::vector<std::string>{"a", "b", "c"});
    file.finish();
  }
  InputData data;
  ASSERT_TRUE(read_input_data(path("d.h5") + ":torque:spline", data));
  EXPECT_EQ(data.times, kTimes);
  EXPECT_EQ(data.values, kValues);
  EXPECT_EQ(data.joining, Joining::kSpline);
  EXPECT_TRUE(read_input_data(path("d.h5") + ":/torque", data));
  EXPECT_THROW(read_input_data(path("d.h5") + ":torqe", data), Error);
  EXPECT_THROW(read_input_data(path("d.h5") + ":note", data), Error);
}

TEST_F(DataFile, ReadsVectorsOfMatFiles) {
  for (const mat_ft version : {MAT_FT_MAT4, MAT_FT_MAT5}) {
    const std::string name = path(version == MAT_FT_MAT4 ? "v4.mat" : "v5.mat");
    mat_t* file = Mat_CreateVer(name.c_str(), nullptr, version);
    ASSERT_NE(file, nullptr);
    const auto write = [&](const char* variable, const std::vector<double>& values, bool is_row) {
      std::array<std::size_t, 2> size = {values.size(), 1};
      if (is_row) std::swap(size[0], size[1]);
      matvar_t* matrix = Mat_VarCreate(variable, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size.data(),
                                       const_cast<double*>(values.data()), 0);
      Mat_VarWrite(file, matrix, MAT_COMPRESSION_NONE);
      Mat_VarFree(matrix);
    };
    write("t", kTimes, false);
    write("torque", kValues, true);
    write("short", {1.0, 2.0}, false);
    Mat_Close(file);
    InputData data;
    ASSERT_TRUE(read_input_data(name + ":torque:hold", data));
    EXPECT_EQ(data.times, kTimes);
    EXPECT_EQ(data.values, kValues);
    EXPECT_THROW(read_input_data(name + ":short", data), Error);
    EXPECT_THROW(read_input_data(name + ":torqe", data), Error);
  }
}

TEST_F(DataFile, RefusesWhatIsNoFileOfItsKind) {
  for (const char* name : {"no.mat", "no.h5"}) {
    std::ofstream(path(name)) << "time,u\n0,1\n";
    EXPECT_THROW(read_columns(path(name), {}), Error) << name;
  }
  EXPECT_THROW(read_columns(path("none.csv"), {}), Error);
  EXPECT_THROW(read_columns(path("no.xls"), {}), Error);
}

TEST_F(DataFile, LeavesExpressionsAlone) {
  InputData data;
  for (const char* text : {"sin(2*time)", "a.t", "if u > 1 then 2 else 3", "x[1:3]", "table.csv"})
    EXPECT_FALSE(read_input_data(text, data)) << text;
}

}  // namespace
}  // namespace saltus
