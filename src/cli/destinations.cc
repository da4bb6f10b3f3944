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
#include "output/csv.h"
#include "output/json.h"
#include "output/mat.h"
#include "output/report.h"

namespace saltus {
namespace {

namespace fs = std::filesystem;

// Only an attempt tells: permissions, read-only file systems and quotas all have a say.
void check_folder(const std::string& option, const fs::path& folder) {
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
  if (fs::is_directory(path, ignored))
    throw Error(fmt::format("{}: '{}' is a directory; give the name of a file", option, path));
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return;  // a device
  const fs::path folder = fs::path(path).parent_path();
  check_folder(option, folder.empty() ? "." : folder);
}

void print_json(const SimulateResult& result) {
  const std::string text = to_json_text(result);
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

}  // namespace

void check_writable(const Destinations& destinations) {
  if (!destinations.folder.empty()) {
    std::error_code problem;
    fs::create_directories(destinations.folder, problem);
    if (problem)
      throw Error(fmt::format("--output: cannot make the directory '{}': {}", destinations.folder,
                              problem.message()));
    check_folder("--output", destinations.folder);
  }
  if (!destinations.report.empty()) check_file("--report", destinations.report);
  if (!destinations.json.empty() && destinations.json != "-")
    check_file("--json", destinations.json);
}

void write_results(const SimulateResult& result, const Destinations& destinations,
                   std::vector<std::string>& written, std::vector<std::string>& failures) {
  const auto attempt = [&](const std::string& path, const std::function<void()>& write) {
    try {
      write();
      if (path != "-") written.push_back(path);
    } catch (const Error& error) {
      failures.push_back(error.message());
    }
  };
  for (const std::string& format : destinations.formats) {
    if (destinations.folder.empty()) break;
    const std::string path =
        (fs::path(destinations.folder) / (result.model + "." + format)).string();
    attempt(path, [&] {
      if (format == "mat")
        write_mat(result.trajectory, path);
      else
        write_csv(result.trajectory, path);
    });
  }
  if (!destinations.report.empty())
    attempt(destinations.report, [&] { write_report(result, destinations.report); });
  if (!destinations.json.empty())
    attempt(destinations.json, [&] {
      if (destinations.json == "-")
        print_json(result);
      else
        write_json(result, destinations.json);
    });
}

}  // namespace saltus
