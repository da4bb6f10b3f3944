#include "study/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.h"

namespace saltus {
namespace {

// Before the results of each block in a part.
struct BlockHeading {
  static constexpr std::uint64_t kMark = 0x4b4c42'5355544c41ULL;  // whatever is not text
  std::uint64_t mark = kMark;
  std::uint64_t block = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

std::uint64_t checksum(std::string_view bytes) {  // FNV-1a
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return sum;
}

bool write_all(int file, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(file, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

Journal::Journal(std::filesystem::path folder, std::size_t blocks)
    : folder_(std::move(folder)), blocks_(blocks) {
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  flags_ = open((folder_ / "blocks").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (flags_ < 0) fail("open");
}

Journal::~Journal() {
  if (flags_ >= 0) close(flags_);
  if (part_ >= 0) close(part_);
}

void Journal::fail(const std::string& what) const {
  throw Error(
      fmt::format("cannot {} the journal '{}': {}", what, folder_.string(), std::strerror(errno)));
}

std::optional<std::string> Journal::identity() const {
  if (!std::filesystem::exists(folder_ / "study")) return std::nullopt;
  return read_file(folder_ / "study");
}

void Journal::begin(const std::string& identity) {
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    if (entry.path().filename().string().starts_with("part-"))
      std::filesystem::remove(entry.path());
  if (ftruncate(flags_, 0) != 0 || ftruncate(flags_, static_cast<off_t>(blocks_)) != 0)
    fail("write");
  // Under its name only when it is whole: others wait for it.
  const std::filesystem::path partial = folder_ / "study.partial";
  {
    std::ofstream out(partial, std::ios::binary);
    out << identity;
    if (!out.flush()) fail("write");
  }
  std::filesystem::rename(partial, folder_ / "study");
}

bool Journal::is_filed(std::size_t block) const {
  char flag = 0;
  return pread(flags_, &flag, 1, static_cast<off_t>(block)) == 1 && flag == 1;
}

std::size_t Journal::filed() const {
  std::string flags(blocks_, '\0');
  if (pread(flags_, flags.data(), flags.size(), 0) < 0) return 0;
  return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), '\1'));
}

bool Journal::lock(std::size_t block, bool wait) const {
  struct flock claim {};
  claim.l_type = F_WRLCK;
  claim.l_whence = SEEK_SET;
  claim.l_start = static_cast<off_t>(block);
  claim.l_len = 1;
  int result = 0;
  do result = fcntl(flags_, wait ? F_SETLKW : F_SETLK, &claim);
  while (result != 0 && errno == EINTR && !wait);
  return result == 0;
}

void Journal::unlock(std::size_t block) const {
  struct flock claim {};
  claim.l_type = F_UNLCK;
  claim.l_whence = SEEK_SET;
  claim.l_start = static_cast<off_t>(block);
  claim.l_len = 1;
  fcntl(flags_, F_SETLK, &claim);
}

std::optional<std::size_t> Journal::claim(std::size_t first, bool wait) {
  for (const bool patient : {false, true}) {
    if (patient && !wait) break;
    for (std::size_t k = 0; k < blocks_; ++k) {
      const std::size_t block = (first + k) % blocks_;
      if (is_filed(block) || !lock(block, patient)) continue;
      if (!is_filed(block)) return block;
      unlock(block);  // filed since we looked
    }
  }
  return std::nullopt;
}

void Journal::file(std::size_t block, std::string_view results) {
  if (part_ < 0) {
    char host[256] = "host";
    (void)gethostname(host, sizeof(host) - 1);
    const std::string name = fmt::format("part-{}-{}", host, getpid());
    part_ = open((folder_ / name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (part_ < 0) fail("write");
  }
  BlockHeading heading;
  heading.block = block;
  heading.bytes = results.size();
  heading.checksum = checksum(results);
  std::string bytes(sizeof(heading), '\0');
  std::memcpy(bytes.data(), &heading, sizeof(heading));
  bytes += results;
  const char filed = 1;
  if (!write_all(part_, bytes.data(), bytes.size())) fail("write");
  if (pwrite(flags_, &filed, 1, static_cast<off_t>(block)) != 1) fail("write");
  unlock(block);
}

std::vector<std::string> Journal::collect() const {
  std::vector<std::string> results(blocks_);
  std::vector<bool> found(blocks_, false);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (!entry.path().filename().string().starts_with("part-")) continue;
    const std::string part = read_file(entry.path());
    for (std::size_t at = 0; at + sizeof(BlockHeading) <= part.size();) {
      BlockHeading heading;
      std::memcpy(&heading, part.data() + at, sizeof(heading));
      at += sizeof(heading);
      // A part ends in the middle of a block where its worker was killed.
      if (heading.mark != BlockHeading::kMark || heading.block >= blocks_ ||
          heading.bytes > part.size() - at)
        break;
      const std::string_view bytes(part.data() + at, heading.bytes);
      at += heading.bytes;
      if (checksum(bytes) != heading.checksum) continue;
      results[heading.block] = bytes;
      found[heading.block] = true;
    }
  }
  for (std::size_t block = 0; block < blocks_; ++block)
    if (!found[block])
      throw Error(
          fmt::format("the journal '{}' has lost the results of block {}; run the study "
                      "again without --resume",
                      folder_.string(), block));
  return results;
}

void Journal::remove() {
  std::error_code problem;
  std::filesystem::remove_all(folder_, problem);
}

}  // namespace saltus
