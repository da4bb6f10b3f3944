#include "base/run_apart.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <fstream>
#include <limits>

#include "base/error.h"

namespace saltus {
namespace {

constexpr rlim_t kMostSeconds = 120;
constexpr rlim_t kMostBytes = rlim_t{4} << 30U;  // beside what there is already

void limit(int resource, rlim_t most) {
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &now) != 0) return;
  if (now.rlim_cur != RLIM_INFINITY && now.rlim_cur < most) return;
  now.rlim_cur = most;
  setrlimit(static_cast<__rlimit_resource_t>(resource), &now);
}

void set_limits() {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, kMostSeconds);
#ifndef __SANITIZE_ADDRESS__  // which reserves terabytes
  std::size_t pages = 0;
  if (std::ifstream("/proc/self/statm") >> pages)
    limit(RLIMIT_AS, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kMostBytes);
#endif
}

bool write_all(int to, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(to, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

std::string read_all(int from) {
  std::string bytes;
  std::array<char, 65536> part{};
  while (true) {
    const ssize_t got = read(from, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.append(part.data(), static_cast<std::size_t>(got));
  }
}

// 1 and the bytes, or 0 and the error.
[[noreturn]] void work_and_exit(int to, const std::function<void(Bytes&)>& work) {
  // A library that gives up says so where nobody listens.
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  set_limits();
  Bytes answer;
  try {
    answer.put(1);
    work(answer);
  } catch (const Error& error) {
    answer = Bytes();
    answer.put(0);
    answer.put(error.message());
    answer.put(error.where().file);
    answer.put(static_cast<std::size_t>(error.where().line));
    answer.put(static_cast<std::size_t>(error.where().column));
  } catch (const std::exception&) {  // memory, mostly
    _exit(1);
  }
  _exit(write_all(to, answer.all()) ? 0 : 1);
}

}  // namespace

void Bytes::put(std::size_t count) {
  bytes_.append(reinterpret_cast<const char*>(&count), sizeof(count));
}

void Bytes::put(const std::string& text) {
  put(text.size());
  bytes_ += text;
}

void Bytes::put(const std::vector<double>& numbers) {
  put(numbers.size());
  bytes_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
}

const char* Bytes::take(std::size_t size) {
  if (size > bytes_.size() - at_) throw Error("an answer ends early");
  const char* const begin = bytes_.data() + at_;
  at_ += size;
  return begin;
}

std::size_t Bytes::count() {
  std::size_t result = 0;
  std::memcpy(&result, take(sizeof(result)), sizeof(result));
  return result;
}

std::string Bytes::text() {
  const std::size_t size = count();
  return {take(size), size};
}

std::vector<double> Bytes::numbers() {
  const std::size_t size = count();
  if (size > std::numeric_limits<std::size_t>::max() / sizeof(double))
    throw Error("an answer ends early");
  const char* const begin = take(size * sizeof(double));
  std::vector<double> result(size);
  if (size > 0) std::memcpy(result.data(), begin, size * sizeof(double));
  return result;
}

Bytes run_apart(const std::string& what, const std::function<void(Bytes&)>& work) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(fmt::format("{}: no pipe", what));
  const pid_t child = fork();
  if (child == 0) work_and_exit(ends[1], work);
  close(ends[1]);
  std::string answer = child < 0 ? "" : read_all(ends[0]);
  close(ends[0]);
  if (child < 0) throw Error(fmt::format("{}: no process", what));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // Somebody else may have asked for the status; the answer is whole or it is not.
  Bytes result(std::move(answer));
  if (result.all().empty() || (WIFEXITED(status) && WEXITSTATUS(status) != 0) ||
      WIFSIGNALED(status))
    throw Error(fmt::format("{}: the file is damaged", what));
  if (result.count() == 1) return result;
  const std::string message = result.text();
  const std::string file = result.text();
  const auto line = static_cast<int>(result.count());
  throw Error(message, {file, line, static_cast<int>(result.count())});
}

}  // namespace saltus
