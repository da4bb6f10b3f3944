#include "modelica/matrix_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/run_apart.h"
#include "model/mat_reader.h"

namespace saltus {

bool is_matrix_file(const std::string& file) {
  std::string ending = std::filesystem::path(file).extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".mat";
}

FileMatrix read_matrix_file(const std::string& file, const std::string& name, const Place& place) {
  Bytes bytes = run_apart(file, [&](Bytes& to) {
    const MatMatrix found = MatReader(file, place.location()).matrix(name);
    to.put(found.rows);
    to.put(found.columns);
    to.put(found.numbers);
  });
  MatMatrix read;
  read.rows = bytes.count();
  read.columns = bytes.count();
  read.numbers = bytes.numbers();
  FileMatrix matrix{read.rows, read.columns, std::vector<double>(read.numbers.size())};
  for (std::size_t i = 0; i < read.rows; ++i)
    for (std::size_t j = 0; j < read.columns; ++j)
      matrix.numbers[i * read.columns + j] = read.at(i, j);
  return matrix;
}

}  // namespace saltus
