#include "modelica/matrix_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <matio.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "modelica/table_file.h"

namespace saltus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MatrixFile : public testing::Test {
 protected:
  ~MatrixFile() override { std::filesystem::remove_all(folder_); }

  // [1 2 3; 4 5 6] by columns, as `name`.
  std::string write(const std::string& file, mat_ft level, const char* name,
                    matio_classes kind = MAT_C_DOUBLE, int flags = 0, int rank = 2) {
    const std::string path = folder_ / file;
    mat_t* mat = Mat_CreateVer(path.c_str(), nullptr, level);
    std::array<std::size_t, 3> size{2, 3, 1};
    if (rank == 3) size = {1, 2, 3};
    std::array<double, 6> numbers{1, 4, 2, 5, 3, 6};
    std::array<std::int16_t, 6> whole{1, 4, 2, 5, 3, 6};
    mat_complex_split_t complex{numbers.data(), numbers.data()};
    void* data = numbers.data();
    if (kind == MAT_C_INT16) data = whole.data();
    if (flags != 0) data = &complex;
    matvar_t* variable = Mat_VarCreate(name, kind, kind == MAT_C_INT16 ? MAT_T_INT16 : MAT_T_DOUBLE,
                                       rank, size.data(), data, flags);
    Mat_VarWrite(mat, variable, level == MAT_FT_MAT4 ? MAT_COMPRESSION_NONE : MAT_COMPRESSION_ZLIB);
    Mat_VarFree(variable);
    Mat_Close(mat);
    return path;
  }
  std::string refusal(const std::string& path, const std::string& name) {
    try {
      read_matrix_file(path, name, place_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  Place place_;
  std::filesystem::path folder_ = [] {
    std::string made = std::filesystem::temp_directory_path() / "saltus_matrix_XXXXXX";
    return std::filesystem::path(mkdtemp(made.data()));
  }();
};

TEST_F(MatrixFile, IsReadRowByRowAtEveryLevel) {
  for (const mat_ft level : {MAT_FT_MAT4, MAT_FT_MAT5}) {
    const FileMatrix matrix = read_matrix_file(write("a.mat", level, "A"), "A", place_);
    EXPECT_EQ(matrix.rows, 2U);
    EXPECT_EQ(matrix.columns, 3U);
    EXPECT_THAT(matrix.numbers, ElementsAre(1, 2, 3, 4, 5, 6));
  }
  EXPECT_THAT(read_matrix_file(write("i.mat", MAT_FT_MAT5, "A", MAT_C_INT16), "A", place_).numbers,
              ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(MatrixFile, IsATableAsWell) {
  const FileTable table = read_table_file(write("t.mat", MAT_FT_MAT4, "tab"), "tab", place_);
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre(1, 2, 3), ElementsAre(4, 5, 6)));
}

TEST_F(MatrixFile, IsATableInTextThatBeginsWithTheMarkOfUtf8) {
  const std::string path = folder_ / "t.txt";
  std::ofstream(path) << "\xEF\xBB\xBF#1\ndouble tab(2,2)\n1 2\n3 4\n";
  EXPECT_THAT(read_table_file(path, "tab", place_).rows,
              ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
}

TEST_F(MatrixFile, IsRefusedByName) {
  const std::string path = write("a.mat", MAT_FT_MAT5, "A");
  EXPECT_THAT(refusal(path, "B"), HasSubstr("has no matrix 'B'"));
  EXPECT_THAT(refusal(path, "A.b"), HasSubstr("has no matrix 'A.b'"));
  EXPECT_THAT(refusal(folder_ / "none.mat", "A"), HasSubstr("there is no such file"));
  EXPECT_THAT(refusal(folder_, "A"), HasSubstr("is no file"));
  EXPECT_THAT(refusal(write("c.mat", MAT_FT_MAT5, "A", MAT_C_DOUBLE, MAT_F_COMPLEX), "A"),
              HasSubstr("no matrix of real numbers"));
  EXPECT_THAT(refusal(write("r.mat", MAT_FT_MAT5, "A", MAT_C_DOUBLE, 0, 3), "A"),
              HasSubstr("no matrix of real numbers"));
  const std::string text = folder_ / "text.mat";
  std::ofstream(text) << "not a matrix file at all, but long enough to look like one";
  EXPECT_NE(refusal(text, "A"), "");
}

}  // namespace
}  // namespace saltus
