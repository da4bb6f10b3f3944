#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace saltus {

// What is known of an unfinished study, in a folder beside its result. The runs come in blocks; a
// worker claims a block, does its runs and files the results. Any number of processes, on one
// machine or on several that share the folder, may work at once: a claim is a lock that ends with
// the process, so the blocks of a worker that was killed are free again, and what is filed
// survives every process.
//
//   study          what study this is; a study goes on only where it is the same
//   blocks         one byte a block: 1 where its results are filed; its locks are the claims
//   part-HOST-PID  the results of one worker, block after block
class Journal {
 public:
  // Makes the folder, or opens it where it is. Throws Error naming the path and the reason.
  Journal(std::filesystem::path folder, std::size_t blocks);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // The text that says which study it is; none if the folder is new.
  std::optional<std::string> identity() const;
  // Begins a new study: forgets all results.
  void begin(const std::string& identity);

  bool is_filed(std::size_t block) const;
  std::size_t filed() const;
  // A block that is neither filed nor claimed by another process; from `first` on, and then from
  // the beginning. With `wait`: if all that are left are claimed, waits for the first of them.
  // None: all blocks are filed (or, without `wait`, claimed).
  std::optional<std::size_t> claim(std::size_t first, bool wait);
  // Files the results of a block claimed by this process, and gives up the claim.
  void file(std::size_t block, std::string_view results);

  // The results of all filed blocks, in order. Throws Error if one is missing or damaged.
  std::vector<std::string> collect() const;
  // Removes the folder with all that is in it.
  void remove();

 private:
  bool lock(std::size_t block, bool wait) const;
  void unlock(std::size_t block) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::filesystem::path folder_;
  std::size_t blocks_;
  int flags_ = -1;
  int part_ = -1;
};

}  // namespace saltus
