#include <matio.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "output/hdf5_file.h"

// Writes one right data file of each kind into a folder, for data_fuzz.cc to change.

namespace {

std::array<double, 3> numbers{0.0, 0.5, 2.0};

void add(mat_t* file, const char* name, std::size_t rows, std::size_t columns, bool compressed) {
  std::array<std::size_t, 2> size{rows, columns};
  matvar_t* made =
      Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size.data(), numbers.data(), 0);
  Mat_VarWrite(file, made, compressed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE);
  Mat_VarFree(made);
}

// s.a: a matrix in a structure.
void add_structure(mat_t* file) {
  std::array<const char*, 1> fields{"a"};
  std::array<std::size_t, 2> one{1, 1};
  std::array<std::size_t, 2> size{3, 1};
  matvar_t* structure = Mat_VarCreateStruct("s", 2, one.data(), fields.data(), 1);
  matvar_t* field =
      Mat_VarCreate("a", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size.data(), numbers.data(), 0);
  Mat_VarSetStructFieldByName(structure, "a", 0, field);
  Mat_VarWrite(file, structure, MAT_COMPRESSION_NONE);
  Mat_VarFree(structure);
}

void write_mat(const std::filesystem::path& path, mat_ft level, bool compressed) {
  mat_t* file = Mat_CreateVer(path.c_str(), nullptr, level);
  for (const char* name : {"time", "x", "tab"}) add(file, name, 3, 1, compressed);
  if (level == MAT_FT_MAT5 && !compressed) add_structure(file);
  Mat_Close(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "d.csv") << "time,x,y\n0,1,2\n0.5,-3e1,4\n0.5,\"7\",\n2,true,0\n";
  std::ofstream(folder / "t.txt") << "#1\ndouble tab(3,2) # t\n0 0\n1 2\n2 1e1\nfloat x(1,1)\n3\n";
  write_mat(folder / "4.mat", MAT_FT_MAT4, false);
  write_mat(folder / "5.mat", MAT_FT_MAT5, false);
  write_mat(folder / "7.mat", MAT_FT_MAT5, true);
  if (saltus::Hdf5File::is_supported()) {
    saltus::Hdf5File file((folder / "d.h5").string());
    file.dimension("point", {0, 1, 2});
    file.variable("time", std::vector<double>{0.0, 0.5, 2.0});
    file.variable("x", std::vector<double>{1.0, -3.0, 7.5});
    file.finish();
  }
  return 0;
}
