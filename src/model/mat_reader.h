#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace saltus {

// Numbers, or letters as numbers.
struct MatMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> numbers;  // column by column
  double at(std::size_t i, std::size_t j) const { return numbers[j * rows + i]; }
};

// A MATLAB file (levels 4, 6, 7 and 7.3) that nobody vouches for: what it says of its sizes is
// compared with its size before memory is taken, and a file that ends early is refused. All throw
// Error naming the file, at `where`.
class MatReader {
 public:
  MatReader(std::string path, SourceLocation where);
  ~MatReader();
  MatReader(const MatReader&) = delete;
  MatReader& operator=(const MatReader&) = delete;

  struct Entry {
    std::string name;
    bool is_series = false;  // one row or column of real numbers
  };
  const std::vector<Entry>& entries() const { return entries_; }

  // A matrix in a structure is named by its path: "s.a.matrix".
  MatMatrix matrix(const std::string& name) const;

 private:
  struct File;
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  SourceLocation where_;
  std::unique_ptr<File> file_;
  std::vector<Entry> entries_;
};

}  // namespace saltus
