#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace saltus {

// Whether the name ends as those of Modelica files do. No result is written to such a name: a slip
// on the command line would cost the model.
bool is_name_of_model(const std::string& path);

// A result file that appears whole or not at all: bytes go to a new file beside it, which finish()
// renames to `path` when all is on the disk. A path that names a device or a pipe (/dev/stdout) is
// written directly. Every failure throws Error naming the path and the system's reason; the partial
// file is then removed.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  // Without this call the destructor discards what was written.
  void finish();

 private:
  [[noreturn]] void fail(int reason) const;

  std::string path_;
  std::string written_;  // the file being written: path_ itself or the temporary beside it
  std::FILE* file_ = nullptr;
};

// The whole of `text` as one file.
void write_file(const std::string& path, std::string_view text);

}  // namespace saltus
