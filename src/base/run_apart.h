#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace saltus {

// Numbers and texts as bytes, to be read in the order they were written.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}

  void put(std::size_t count);
  void put(const std::string& text);
  void put(const std::vector<double>& numbers);
  // Throw Error where there is nothing left.
  std::size_t count();
  std::string text();
  std::vector<double> numbers();

  const std::string& all() const { return bytes_; }

 private:
  const char* take(std::size_t size);

  std::string bytes_;
  std::size_t at_ = 0;
};

// What `work` writes, done in a process of its own: for libraries that damaged files can crash. An
// Error of `work` is thrown here; if the process dies, runs for minutes or takes gigabytes, an
// Error that begins with `what`.
Bytes run_apart(const std::string& what, const std::function<void(Bytes&)>& work);

}  // namespace saltus
