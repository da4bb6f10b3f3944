#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace saltus {

// The name of a model as part of a file name: letters, digits and ._- stay, anything else becomes
// '_', so that no name leaves the folder it is put into.
std::string file_stem(const std::string& model);

// A file that is being written under a name of its own and gets its final name when it is whole.
// It is made new: neither a file that exists nor a link that somebody planted is written to. Every
// failure throws Error with the path and the system's reason; what was appended before stays.
class PartialFile {
 public:
  // Makes <stem>.partial<extension>, <stem>.partial-2<extension> if that is taken, and so on.
  PartialFile(const std::string& stem, const std::string& extension);
  // Leaves the file as it is.
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  const std::string& path() const { return path_; }
  std::size_t size() const { return size_; }

  // At the end; where the disk is full, as many whole points as fit before it throws. `point` is
  // the size of one; 0: they are lines.
  void append(std::string_view bytes, std::size_t point = 0);
  // Inside of what was appended.
  void overwrite(std::size_t offset, std::string_view bytes);
  // From `offset` on, at most as many bytes; fewer at the end.
  std::string read(std::size_t offset, std::size_t bytes) const;
  // Waits until everything is on the disk, then gives the file this name. Replaces what has it.
  void rename_to(const std::string& path);
  void remove();

 private:
  [[noreturn]] void fail(int reason) const;
  // Returns the system's reason for a failure, 0 for none, and takes off what was written.
  int try_write(std::size_t offset, std::string_view& bytes);
  void close();

  std::string path_;
  int file_ = -1;
  std::size_t size_ = 0;
};

}  // namespace saltus
