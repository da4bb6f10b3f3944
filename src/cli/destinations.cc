#include "cli/destinations.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <system_error>

#include "base/error.h"
#include "cli/say.h"
#include "output/file.h"
#include "output/json.h"
#include "output/report.h"
#include "output/result_files.h"

namespace saltus {
namespace {

namespace fs = std::filesystem;

std::string& command_line() {
  static std::string line;
  return line;
}

std::string quoted_for_shell(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result + "'";
}

// Whether files can be made in `folder`, or in the nearest folder above it that exists. Only an
// attempt tells: permissions, read-only file systems and quotas all have a say. The missing folders
// are made with the first file, so wrong options leave nothing behind.
void check_folder(const std::string& option, fs::path folder) {
  std::error_code ignored;
  folder = fs::absolute(folder);
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  std::string probe = (folder / ".saltus-XXXXXX").string();
  const int file = mkstemp(probe.data());
  if (file < 0)
    throw Error(fmt::format("{}: cannot write into '{}': {}", option, folder.string(),
                            std::strerror(errno)));
  close(file);
  unlink(probe.c_str());
}

void check_file(const std::string& option, const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(fs::absolute(path).lexically_normal(), ignored) || path.ends_with('/'))
    throw Error(fmt::format("{}: this is a directory; give the name of a file", option));
  if (is_name_of_model(path))
    throw Error(
        fmt::format("{}: this is the name of a model, which results do not replace", option));
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return;  // a device
  check_folder(option, fs::absolute(path).parent_path());
}

// Devices take whatever comes.
bool is_same_place(const std::string& a, const std::string& b) {
  std::error_code ignored;
  const fs::path place = fs::weakly_canonical(fs::absolute(a), ignored);
  return !b.empty() && place == fs::weakly_canonical(fs::absolute(b), ignored) &&
         (!fs::exists(place, ignored) || fs::is_regular_file(place, ignored));
}

void make_folder_of(const std::string& path) {
  const fs::path folder = fs::absolute(path).parent_path();
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    throw Error(
        fmt::format("cannot make the directory '{}': {}", folder.string(), problem.message()));
}

}  // namespace

void remember_command(std::span<const char* const> words) {
  std::string& line = command_line();
  line = "saltus";
  for (const char* word : words) line += " " + quoted_for_shell(word);
}

void check_writable(const Destinations& to) {
  if (!to.folder.empty()) check_folder("--output " + to.folder, to.folder);
  if (to.report == "-") throw Error("--report: give the name of a file");
  if (!to.report.empty()) check_file("--report " + to.report, to.report);
  if (!to.report.empty() && is_same_place(to.report, to.json))
    throw Error(fmt::format("--report {}: --json goes to the same file", to.report));
  if (!to.json.empty() && to.json != "-") check_file("--json " + to.json, to.json);
}

void write_text(const std::string& text, const std::string& path) {
  if (path != "-") {
    make_folder_of(path);
    write_file(path, text);
    return;
  }
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void write_summaries(const SimulateResult& result, const Destinations& destinations,
                     std::vector<std::string>& written, std::vector<std::string>& failures) {
  const auto attempt = [&](const std::string& path, const std::function<void()>& write) {
    try {
      for (const std::string& other : written)
        if (is_same_place(path, other))
          throw Error(fmt::format("'{}' holds the points of this run and stays as it is", path));
      if (path != "-") make_folder_of(path);
      write();
      if (path != "-") written.push_back(path);
    } catch (const Error& error) {
      failures.push_back(error.message());
    }
  };
  if (!destinations.report.empty())
    attempt(destinations.report,
            [&] { write_report(result, destinations.report, command_line()); });
  if (!destinations.json.empty())
    attempt(destinations.json, [&] { write_text(to_json_text(result), destinations.json); });
}

void write_results(const SimulateResult& result, const Destinations& destinations,
                   std::vector<std::string>& written, std::vector<std::string>& failures) {
  const Trajectory& points = result.trajectory;
  ResultFiles files(destinations.folder, result.model, destinations.formats, false);
  try {
    files.begin(points);
    for (std::size_t i = 0; i < points.size(); ++i)
      files.store(points.time[i], points.mode[i], points.values.data() + i * points.width());
  } catch (const Error&) {  // finish() says it
  }
  files.finish(written, failures);
  for (const std::string& note : files.notes()) say_warning(note);
  write_summaries(result, destinations, written, failures);
}

}  // namespace saltus
