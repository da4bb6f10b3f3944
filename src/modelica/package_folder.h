#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

// Packages as folders of files (Modelica 3.5, section 13.4). Nothing is parsed here.

namespace saltus {

// A folder with a package.mo: which of its entries hold classes, by name.
class PackageFolder {
 public:
  explicit PackageFolder(std::filesystem::path folder);

  const std::filesystem::path& path() const { return folder_; }
  // Name.mo, or the folder Name; empty: none.
  std::optional<std::filesystem::path> path_of(const std::string& name) const;
  // The lines of package.order; empty if there is none.
  const std::vector<std::string>& order() const { return order_; }
  // Alphabetically.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::filesystem::path> entries_;
  std::vector<std::string> order_;
};

// "Modelica" of "Modelica 4.0.0".
std::string package_name(const std::string& folder_name);

// Where the top-level package `name` is stored in `folder`: the file Name.mo, the folder Name, or
// the highest version of those called "Name 1.2.3"; empty: nowhere.
std::optional<std::filesystem::path> find_package(const std::filesystem::path& folder,
                                                  const std::string& name);

// Names of the packages stored in `folder`.
std::vector<std::string> packages_in(const std::filesystem::path& folder);

// Throws Error if it cannot be read.
std::string read_text_file(const std::filesystem::path& file);

}  // namespace saltus
