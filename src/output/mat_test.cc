#include "output/mat.h"

#include <gtest/gtest.h>
#include <matio.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "output/ball_test_data.h"

namespace saltus {
namespace {

// A reader as the Modelica world writes them (dataInfo leads from a name to matrix, row and sign),
// on top of matio's independent decoding of the level 4 format.
class ResultReader {
 public:
  explicit ResultReader(const std::string& path)
      : file_(Mat_Open(path.c_str(), MAT_ACC_RDONLY), &Mat_Close) {
    if (file_ == nullptr) return;
    Matrix info = read("dataInfo");
    const std::vector<std::string> names = columns("name");
    const std::vector<std::string> descriptions = columns("description");
    // matio widens the numbers of a level 4 file to double.
    const auto* numbers = static_cast<const double*>(info->data);
    const auto number = [&](std::size_t i) { return static_cast<int>(numbers[i]); };
    for (std::size_t i = 0; i < names.size(); ++i) {
      entries_[names[i]] = {number(4 * i), number(4 * i + 1), number(4 * i + 2), number(4 * i + 3),
                            descriptions[i]};
    }
  }

  struct Entry {
    int matrix;
    int row;
    int interpolation;
    int outside;
    std::string description;
  };
  using Matrix = std::unique_ptr<matvar_t, decltype(&Mat_VarFree)>;

  bool open() const { return file_ != nullptr; }
  bool is_level_4() const { return Mat_GetVersion(file_.get()) == MAT_FT_MAT4; }
  const std::map<std::string, Entry>& entries() const { return entries_; }

  Matrix read(const std::string& name) const {
    return {Mat_VarRead(file_.get(), name.c_str()), &Mat_VarFree};
  }

  std::vector<std::string> order() const {
    std::vector<std::string> names;
    Mat_Rewind(file_.get());
    while (true) {
      const Matrix next(Mat_VarReadNextInfo(file_.get()), &Mat_VarFree);
      if (next == nullptr) return names;
      names.emplace_back(next->name);
    }
  }

  // Texts stored one a matrix column, padding stripped.
  std::vector<std::string> columns(const std::string& name) const {
    const Matrix matrix = read(name);
    EXPECT_EQ(matrix->class_type, MAT_C_CHAR);
    const auto* letters = static_cast<const char*>(matrix->data);
    std::vector<std::string> result;
    for (std::size_t i = 0; i < matrix->dims[1]; ++i) {
      std::string text(letters + i * matrix->dims[0], matrix->dims[0]);
      text.erase(text.find_last_not_of(" \0") + 1);
      result.push_back(text);
    }
    return result;
  }

  std::vector<double> values(const std::string& name) const {
    const Entry& entry = entries_.at(name);
    const Matrix matrix = read(entry.matrix == 1 ? "data_1" : "data_2");
    const auto* data = static_cast<const double*>(matrix->data);
    std::vector<double> result;
    for (std::size_t point = 0; point < matrix->dims[1]; ++point) {
      const double value = data[point * matrix->dims[0] + std::abs(entry.row) - 1];
      result.push_back(entry.row < 0 ? -value : value);
    }
    return result;
  }

 private:
  std::unique_ptr<mat_t, decltype(&Mat_Close)> file_;
  std::map<std::string, Entry> entries_;
};

class Mat : public testing::Test {
 protected:
  Mat() { write_mat(trajectory_, path_); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "ball.mat";
  Trajectory trajectory_ = ball_result().trajectory;
};

TEST_F(Mat, IsALevelFourFileWithTheMatricesInOrder) {
  const ResultReader reader(path_);
  ASSERT_TRUE(reader.open());
  EXPECT_TRUE(reader.is_level_4());
  // OpenModelica's reader wants exactly this order.
  EXPECT_EQ(reader.order(), (std::vector<std::string>{"Aclass", "name", "description", "dataInfo",
                                                      "data_1", "data_2"}));
}

TEST_F(Mat, BeginsByteForByteAsModelicaToolsDo) {
  // Header (text type 51, 4 x 11, real, name of 7 bytes), name and letters by columns.
  const std::string expected(
      "\x33\0\0\0\x04\0\0\0\x0b\0\0\0\0\0\0\0\x07\0\0\0"
      "Aclass\0"
      "A1 bt. ir1 na  Tj  re  ac  nt  so   r   y   ",
      20 + 7 + 44);
  EXPECT_EQ(read_text(path_).substr(0, expected.size()), expected);
}

TEST_F(Mat, DataInfoIsAnIntegerMatrixWithOneColumnAName) {
  const ResultReader reader(path_);
  const auto info = reader.read("dataInfo");
  EXPECT_EQ(info->dims[0], 4u);
  EXPECT_EQ(info->dims[1], 1 + trajectory_.signals.size() + trajectory_.parameters.size());
  // The type code, 20 for 32-bit integers, opens the 20 bytes before the name.
  const std::string bytes = read_text(path_);
  EXPECT_EQ(bytes.at(bytes.find(std::string("dataInfo\0", 9)) - 20), 20);
}

TEST_F(Mat, TimeIsTheAbscissa) {
  const ResultReader reader(path_);
  const auto& time = reader.entries().at("time");
  EXPECT_EQ(time.matrix, 0);
  EXPECT_EQ(time.row, 1);
  EXPECT_EQ(time.description, "Simulation time [s]");
  EXPECT_EQ(reader.values("time"), trajectory_.time);
}

TEST_F(Mat, SignalsReadBackExactlyWithUnits) {
  const ResultReader reader(path_);
  for (const SignalInfo& signal : trajectory_.signals) {
    EXPECT_EQ(reader.entries().at(signal.name).matrix, 2);
    EXPECT_EQ(reader.values(signal.name), trajectory_.column(signal.name)) << signal.name;
  }
  EXPECT_EQ(reader.entries().at("h").description, "height above the table [m]");
  EXPECT_EQ(reader.entries().at("energy[kin,pot]").description, "[J]");
  EXPECT_EQ(reader.entries().at("e").description, "restitution");
}

TEST_F(Mat, ParametersHoldAtBothEnds) {
  const ResultReader reader(path_);
  EXPECT_EQ(reader.entries().at("g").matrix, 1);
  EXPECT_EQ(reader.values("g"), (std::vector<double>{9.81, 9.81}));
  EXPECT_EQ(reader.values("e"), (std::vector<double>{0.8, 0.8}));
  const auto matrix = reader.read("data_1");
  const auto* data = static_cast<const double*>(matrix->data);
  EXPECT_EQ(data[0], trajectory_.time.front());
  EXPECT_EQ(data[matrix->dims[0]], trajectory_.time.back());
}

TEST_F(Mat, EqualSignalsShareARowAndConstantsStandBesideParameters) {
  Trajectory trajectory;
  trajectory.signals = {{"x", "", ""}, {"minus_x", "", ""}, {"mass", "", ""}};
  trajectory.sources = {{0, 1.0}, {0, -1.0}, {Trajectory::Source::kNoColumn, 7.0}};
  trajectory.columns = 1;
  trajectory.parameters = {{"g", "", ""}};
  trajectory.parameter_values = {9.81};
  trajectory.time = {0.0, 1.0};
  trajectory.mode = {ModeId(0), ModeId(0)};
  trajectory.values = {1.0, 2.0};
  write_mat(trajectory, folder_ / "shared.mat");
  const ResultReader reader(folder_ / "shared.mat");
  ASSERT_TRUE(reader.open());
  EXPECT_EQ(reader.values("x"), (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(reader.values("minus_x"), (std::vector<double>{-1.0, -2.0}));
  EXPECT_EQ(reader.values("mass"), (std::vector<double>{7.0, 7.0}));
  EXPECT_EQ(reader.values("g"), (std::vector<double>{9.81, 9.81}));
  EXPECT_EQ(reader.entries().at("mass").matrix, 1);
  EXPECT_EQ(reader.entries().at("minus_x").row, -reader.entries().at("x").row);
}

TEST_F(Mat, WritesARunWithoutPointsOrParameters) {
  Trajectory empty;
  empty.signals = {{"x", "", ""}};
  write_mat(empty, folder_ / "empty.mat");
  const ResultReader reader(folder_ / "empty.mat");
  ASSERT_TRUE(reader.open());
  EXPECT_EQ(reader.columns("name"), (std::vector<std::string>{"time", "x"}));
}

}  // namespace
}  // namespace saltus
