#include "output/partial_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/error.h"

namespace saltus {
namespace {

constexpr int kMostNames = 10'000;
constexpr mode_t kReadableByAll = 0666;  // less what the umask says

}  // namespace

std::string file_stem(const std::string& model) {
  constexpr std::size_t kLongest = 150;  // bytes; file systems allow 255 with all endings
  std::string stem;
  for (const char c : model.substr(0, kLongest)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    stem += plain ? c : '_';
  }
  if (stem.empty() || stem.front() == '.' || stem.front() == '-') stem.insert(0, "_");
  return stem;
}

PartialFile::PartialFile(const std::string& stem, const std::string& extension) {
  for (int k = 1; k <= kMostNames && file_ < 0; ++k) {
    const std::string number = k == 1 ? "" : fmt::format("-{}", k);
    path_ = fmt::format("{}.partial{}{}", stem, number, extension);
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kReadableByAll);
    if (file_ < 0 && errno != EEXIST) fail(errno);
  }
  if (file_ < 0) fail(EEXIST);
}

PartialFile::~PartialFile() { close(); }

void PartialFile::append(std::string_view bytes, std::size_t point) {
  std::string_view rest = bytes;
  const int reason = try_write(size_, rest);
  const std::string_view written = bytes.substr(0, bytes.size() - rest.size());
  // Half a point is no point.
  const std::size_t whole = reason == 0  ? written.size()
                            : point == 0 ? written.rfind('\n') + 1
                                         : written.size() - written.size() % point;
  size_ += whole;
  if (reason == 0) return;
  (void)!ftruncate(file_, static_cast<off_t>(size_));
  fail(reason);
}

void PartialFile::overwrite(std::size_t offset, std::string_view bytes) {
  if (const int reason = try_write(offset, bytes); reason != 0) fail(reason);
}

int PartialFile::try_write(std::size_t offset, std::string_view& bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written == 0 ? ENOSPC : errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
  return 0;
}

std::string PartialFile::read(std::size_t offset, std::size_t bytes) const {
  std::string result(bytes, '\0');
  std::size_t count = 0;
  while (count < bytes) {
    const ssize_t got =
        pread(file_, result.data() + count, bytes - count, static_cast<off_t>(offset + count));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) break;
    count += static_cast<std::size_t>(got);
  }
  result.resize(count);
  return result;
}

void PartialFile::rename_to(const std::string& path) {
  if (fsync(file_) != 0 && errno != EINVAL) fail(errno);
  if (std::rename(path_.c_str(), path.c_str()) != 0) fail(errno);
  path_ = path;
  close();
}

void PartialFile::remove() {
  close();
  (void)std::remove(path_.c_str());
}

void PartialFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void PartialFile::fail(int reason) const {
  throw Error("cannot write '" + path_ + "': " + std::generic_category().message(reason));
}

}  // namespace saltus
