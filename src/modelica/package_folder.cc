#include "modelica/package_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/readable_file.h"

namespace saltus {
namespace fs = std::filesystem;
namespace {

// What an entry of a folder holds a class in, without the version; empty: nothing of ours.
std::string class_name(const fs::directory_entry& entry) {
  std::error_code ignored;
  if (entry.is_directory(ignored)) {
    return fs::is_regular_file(entry.path() / "package.mo", ignored)
               ? entry.path().filename().string()
               : std::string();
  }
  if (entry.path().extension() != ".mo" || entry.path().filename() == "package.mo") return {};
  return entry.path().stem().string();
}

// "4.0.10" as {4, 0, 10}; what follows a number that is not a dot ("-beta") makes it older.
std::vector<int> version_of(std::string_view text) {
  std::vector<int> version;
  while (true) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return version;
    version.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  version.push_back(text.empty() ? 0 : -1);
  return version;
}

std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
    entries.push_back(*it);
    if (ignored) break;
  }
  return entries;
}

}  // namespace

PackageFolder::PackageFolder(fs::path folder) : folder_(std::move(folder)) {
  for (const fs::directory_entry& entry : entries_of(folder_)) {
    const std::string name = class_name(entry);
    if (!name.empty()) entries_.emplace(name, entry.path());
  }
  require_file(folder_ / "package.order");
  std::ifstream file(folder_ / "package.order");
  for (std::string line; std::getline(file, line);) {
    const std::size_t last = line.find_last_not_of(" \t\r");
    if (last == std::string::npos) continue;
    order_.push_back(line.substr(0, last + 1));
  }
}

std::optional<fs::path> PackageFolder::path_of(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> PackageFolder::names() const {
  std::vector<std::string> names;
  for (const auto& [name, path] : entries_) names.push_back(name);
  return names;
}

std::string package_name(const std::string& folder_name) {
  const std::size_t space = folder_name.find(' ');
  const bool versioned = space != std::string::npos && space + 1 < folder_name.size() &&
                         folder_name[space + 1] >= '0' && folder_name[space + 1] <= '9';
  return versioned ? folder_name.substr(0, space) : folder_name;
}

std::optional<fs::path> find_package(const fs::path& folder, const std::string& name) {
  std::optional<fs::path> best;
  std::vector<int> best_version;
  for (const fs::directory_entry& entry : entries_of(folder)) {
    const std::string found = class_name(entry);
    if (found == name) return entry.path();
    if (found.empty() || package_name(found) != name) continue;
    std::vector<int> version = version_of(std::string_view(found).substr(name.size() + 1));
    if (!best || best_version < version) {
      best = entry.path();
      best_version = std::move(version);
    }
  }
  return best;
}

std::vector<std::string> packages_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : entries_of(folder)) {
    const std::string name = class_name(entry);
    if (!name.empty()) names.push_back(package_name(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_text_file(const fs::path& file) {
  require_file(file);
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream) {
    throw Error(fmt::format("cannot read '{}': {}", file.string(), std::strerror(errno)));
  }
  return text;
}

}  // namespace saltus
