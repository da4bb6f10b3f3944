#include "output/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace saltus {

bool is_name_of_model(const std::string& path) { return path.ends_with(".mo"); }

OutputFile::OutputFile(const std::string& path) : path_(path), written_(path) {
  if (is_name_of_model(path))
    throw Error("'" + path + "' is the name of a model, which results do not replace");
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) fail(EISDIR);
  // A rename would replace a device by a plain file, and a link by what it should point to.
  const bool is_regular = std::filesystem::is_regular_file(status);
  if (is_regular) {
    const auto target = std::filesystem::canonical(path, ignored);
    if (!ignored) path_ = target.string();
  }
  errno = 0;
  if (is_regular || !std::filesystem::exists(status)) {
    // A name that nobody can have prepared, so that no link leads elsewhere.
    written_ = path_ + ".XXXXXX";
    const int file = mkostemp(written_.data(), O_CLOEXEC);
    if (file < 0) {
      const int reason = errno;
      written_ = path_;
      fail(reason);
    }
    const mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(file, 0666 & ~mask);
    file_ = fdopen(file, "wb");
  } else {
    file_ = std::fopen(written_.c_str(), "wb");
  }
  if (file_ == nullptr) fail(errno);
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (written_ != path_) std::remove(written_.c_str());
}

void OutputFile::write(const void* data, std::size_t bytes) {
  if (bytes == 0) return;  // data of an empty vector may be null, which fwrite may not be given
  errno = 0;
  if (std::fwrite(data, 1, bytes, file_) != bytes) fail(errno);
}

void OutputFile::finish() {
  // A full disk may show only when the last buffer is written.
  errno = 0;
  const bool is_temporary = written_ != path_;
  if (std::fflush(file_) != 0) fail(errno);
  if (is_temporary && fsync(fileno(file_)) != 0 && errno != EINVAL) fail(errno);
  std::FILE* const file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) fail(errno);
  if (written_ == path_) return;
  if (std::rename(written_.c_str(), path_.c_str()) != 0) fail(errno);
  written_ = path_;
}

void OutputFile::fail(int reason) const {
  throw Error("cannot write '" + path_ + "': " + std::generic_category().message(reason));
}

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.finish();
}

}  // namespace saltus
