#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "modelica/matrix_file.h"
#include "modelica/table_file.h"
#include "study/data_file.h"

// Feeds arbitrary bytes to all that reads data: CSV, MAT and HDF5 files, tables. What is wrong is
// an Error with a message, and no file of some kilobytes may take gigabytes.

namespace {

using namespace saltus;

#ifndef __SANITIZE_ADDRESS__  // reserves more itself
const bool bounded = [] {
  constexpr rlim_t kMost = rlim_t{2} << 30U;
  const rlimit limit{kMost, kMost};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}();
#endif

class Scratch {
 public:
  Scratch() {
    std::string made = std::filesystem::temp_directory_path() / "saltus_data_fuzz_XXXXXX";
    if (mkdtemp(made.data()) == nullptr) std::abort();
    folder_ = made;
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string write(const char* name, const std::uint8_t* data, std::size_t size) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    return path;
  }

 private:
  std::filesystem::path folder_;
};

template <class Read>
void expect_error(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (!error.message().empty()) return;
    std::fprintf(stderr, "an error without a message\n");
    std::abort();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "an exception of the library: %s\n", error.what());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool is_text = bytes.find('\0') == std::string_view::npos;
  if (is_text) {
    const std::string path = scratch.write("d.csv", data, size);
    expect_error([&] { read_columns(path, {}); });
    expect_error([&] {
      InputData input;
      read_input_data(path + ":x:spline", input);
    });
    const std::string table = scratch.write("t.txt", data, size);
    for (const char* name : {"tab", "x"}) expect_error([&] { read_table_file(table, name, {}); });
    expect_error([&] { read_table_csv(table, ",", 1, {}); });
    return 0;
  }
  const bool is_hdf5 = bytes.find("HDF") < 8;
  const std::string path = scratch.write(is_hdf5 ? "d.h5" : "d.mat", data, size);
  expect_error([&] { read_columns(path, {}); });
  if (!is_hdf5) expect_error([&] { read_table_file(path, "s.a", {}); });
  return 0;
}
