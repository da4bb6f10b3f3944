#include "modelica/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/package_folder.h"
#include "modelica/parser.h"

namespace saltus {
namespace fs = std::filesystem;
namespace {

using ClassHandle = std::shared_ptr<ClassDefinition>;

// "A.'b.c'.D" into its parts; dots in quotes do not count.
std::vector<std::string> split_name(std::string_view name) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : name) {
    if (c == '\'') quoted = !quoted;
    if (c == '.' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string join_names(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, "."));
}

}  // namespace

struct Library::State {
  // A class that other files add to.
  struct Node {
    std::optional<PackageFolder> folder;        // null: stored in one file
    std::map<std::string, ClassHandle> loaded;  // by name, from other files
  };

  std::vector<fs::path> folders;
  std::map<std::string, fs::path> packages;  // folders given that are packages themselves
  std::unordered_map<const ClassDefinition*, Node> nodes;  // null: the top level
  std::vector<std::shared_ptr<StoredDefinition>> files;
  std::set<std::string> absent;  // top-level names searched for in vain
  std::set<fs::path> readable;   // folders of what was read, and files allowed by name

  std::shared_ptr<StoredDefinition> parse_file(const fs::path& file) {
    std::shared_ptr<StoredDefinition> stored = parse(read_text_file(file), file.string());
    readable.insert(fs::canonical(file).parent_path());
    return stored;
  }

  std::shared_ptr<StoredDefinition> parse(std::string_view text, const std::string& file) {
    ParseResult result = parse_modelica(text, file);
    if (!result.ok()) throw to_error(result.errors);
    files.push_back(result.definition);
    return result.definition;
  }

  // The one class of a file that is part of a package folder.
  ClassHandle load_member(const fs::path& file, const std::string& name,
                          const ClassDefinition* parent) {
    const std::shared_ptr<StoredDefinition> stored = parse_file(file);
    const SourceLocation where{file.string(), 1, 1};
    if (stored->classes.size() != 1) {
      throw Error(
          fmt::format("a file of a package holds one class: this holds {}", stored->classes.size()),
          where);
    }
    const ClassHandle& c = stored->classes.front();
    if (c->name != name) {
      throw Error(fmt::format("the file is named after '{}' but holds {} '{}'", name,
                              spelling(c->kind), c->name),
                  c->place.location());
    }
    const std::string within = stored->within ? stored->within->text() : "";
    const std::string expected = parent == nullptr ? "" : parent->qualified_name();
    if (within != expected) {
      throw Error(fmt::format("'within {};' does not fit the place of the file: expected "
                              "'within {};'",
                              within, expected),
                  stored->within ? stored->within->place.location() : where);
    }
    return adopt(c, parent);
  }

  // Classes that files add are found through `nodes`; what comes from folders only on demand.
  ClassHandle adopt(const ClassHandle& c, const ClassDefinition* parent) {
    const ClassDefinition* first = parent == nullptr ? nullptr : parent->find_class(c->name);
    if (first == nullptr) first = nodes[parent].loaded.emplace(c->name, c).first->second.get();
    if (first != c.get()) {
      const Place& other = first->place;
      throw Error(
          fmt::format("'{}' is defined already, in {}:{}", c->name, *other.file, other.line),
          c->place.location());
    }
    c->enclosing = parent;
    absent.erase(c->name);
    return c;
  }

  ClassHandle load_folder(const fs::path& folder, const std::string& name,
                          const ClassDefinition* parent) {
    ClassHandle package = load_member(folder / "package.mo", name, parent);
    nodes[package.get()].folder = PackageFolder(folder);
    return package;
  }

  const ClassDefinition* child(const ClassDefinition* parent, const std::string& name) {
    if (parent != nullptr) {
      if (const ClassDefinition* own = parent->find_class(name)) return own;
    }
    const auto found = nodes.find(parent);
    if (found == nodes.end()) return parent == nullptr ? search(name) : nullptr;
    const Node& node = found->second;
    const auto loaded = node.loaded.find(name);
    if (loaded != node.loaded.end()) return loaded->second.get();
    if (parent == nullptr) return search(name);
    if (!node.folder) return nullptr;
    const std::optional<fs::path> path = node.folder->path_of(name);
    if (!path) return nullptr;
    return load_path(*path, name, parent).get();
  }

  ClassHandle load_path(const fs::path& path, const std::string& name,
                        const ClassDefinition* parent) {
    return fs::is_directory(path) ? load_folder(path, name, parent)
                                  : load_member(path, name, parent);
  }

  // A top-level package in the folders given.
  const ClassDefinition* search(const std::string& name) {
    if (absent.contains(name)) return nullptr;
    const auto given = packages.find(name);
    if (given != packages.end()) return load_folder(given->second, name, nullptr).get();
    for (const fs::path& folder : folders) {
      if (const std::optional<fs::path> path = find_package(folder, name)) {
        return load_path(*path, name, nullptr).get();
      }
    }
    absent.insert(name);
    return nullptr;
  }

  const ClassDefinition* find(const std::vector<std::string>& parts) {
    const ClassDefinition* c = nullptr;
    for (const std::string& part : parts) {
      c = child(c, part);
      if (c == nullptr) return nullptr;
    }
    return c;
  }
};

Library::Library() : state_(std::make_unique<State>()) {}
Library::~Library() = default;
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;

void Library::add_folder(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw Error(fmt::format("library folder '{}' does not exist or is no folder", folder.string()));
  }
  state_->absent.clear();
  if (fs::is_regular_file(folder / "package.mo")) {
    const fs::path full = fs::absolute(folder).lexically_normal();
    const fs::path last = full.has_filename() ? full.filename() : full.parent_path().filename();
    state_->packages.emplace(package_name(last.string()), folder);
    return;
  }
  state_->folders.push_back(folder);
}

void Library::add_modelica_path() {
  const char* const variable = std::getenv("MODELICAPATH");
  if (variable == nullptr) return;
  std::string_view rest = variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path folder(rest.substr(0, end));
    if (fs::is_directory(folder)) add_folder(folder);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::vector<const ClassDefinition*> Library::load_file(const fs::path& file) {
  const std::shared_ptr<StoredDefinition> stored = state_->parse_file(file);
  // A member of a package folder is loaded through its package, so that what stands beside it is
  // found.
  const std::size_t levels = (stored->within ? stored->within->parts.size() : 0) +
                             (file.filename() == "package.mo" ? 1 : 0);
  if (levels > 0 && stored->classes.size() == 1) {
    fs::path root = fs::absolute(file).lexically_normal().parent_path();
    for (std::size_t i = 1; i < levels; ++i) root = root.parent_path();
    const bool nested = stored->within && !stored->within->parts.empty();
    const std::string top = nested ? stored->within->parts.front() : stored->classes.front()->name;
    if (fs::is_regular_file(root / "package.mo") && package_name(root.filename().string()) == top) {
      if (!state_->nodes[nullptr].loaded.contains(top)) state_->load_folder(root, top, nullptr);
      std::vector<std::string> parts;
      if (nested) parts = stored->within->parts;
      parts.push_back(stored->classes.front()->name);
      return {&get(join_names(parts), {file.string(), 1, 1})};
    }
  }
  return add(*stored);
}

std::vector<const ClassDefinition*> Library::load_text(std::string_view text,
                                                       const std::string& file) {
  return add(*state_->parse(text, file));
}

std::vector<const ClassDefinition*> Library::add(const StoredDefinition& stored) {
  const ClassDefinition* parent = nullptr;
  if (stored.within && !stored.within->parts.empty()) {
    parent = &get(join_names(stored.within->parts), stored.within->place.location());
  }
  std::vector<const ClassDefinition*> result;
  for (const ClassHandle& c : stored.classes) result.push_back(state_->adopt(c, parent).get());
  return result;
}

const ClassDefinition* Library::find(std::string_view name) {
  return state_->find(split_name(name));
}

const ClassDefinition& Library::get(std::string_view name, const SourceLocation& where) {
  const std::vector<std::string> parts = split_name(name);
  const ClassDefinition* parent = nullptr;
  for (const std::string& part : parts) {
    const ClassDefinition* const c = state_->child(parent, part);
    if (c == nullptr) {
      const std::string hint = did_you_mean(part, child_names(parent));
      if (parent != nullptr) {
        throw Error(fmt::format("there is no class '{}' in {} '{}'{}", part, spelling(parent->kind),
                                parent->qualified_name(), hint),
                    where);
      }
      std::string folders = "no library folder is given";
      if (!state_->folders.empty()) {
        folders = "searched in";
        for (const fs::path& folder : state_->folders) folders += " " + folder.string();
      }
      throw Error(fmt::format("there is no class '{}'{}: {}; give the folder that contains '{}' "
                              "with --library or MODELICAPATH",
                              part, hint, folders, part),
                  where);
    }
    parent = c;
  }
  return *parent;
}

const ClassDefinition* Library::child(const ClassDefinition* parent, std::string_view name) {
  return state_->child(parent, std::string(name));
}

std::vector<std::string> Library::child_names(const ClassDefinition* parent) const {
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto add_name = [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  const auto node = state_->nodes.find(parent);
  const bool has_node = node != state_->nodes.end();
  std::set<std::string> own;
  if (parent != nullptr) {
    for (const auto& c : parent->classes) own.insert(c->name);
  }
  if (has_node && node->second.folder) {
    const PackageFolder& folder = *node->second.folder;
    // package.order names constants as well.
    for (const std::string& name : folder.order()) {
      if (own.contains(name) || folder.path_of(name)) add_name(name);
    }
    for (const std::string& name : folder.names()) add_name(name);
  }
  if (parent != nullptr) {
    for (const auto& c : parent->classes) add_name(c->name);
  }
  if (has_node) {
    for (const auto& [name, c] : node->second.loaded) add_name(name);
  }
  if (parent == nullptr) {
    for (const auto& [name, folder] : state_->packages) add_name(name);
    for (const fs::path& folder : state_->folders) {
      for (const std::string& name : packages_in(folder)) add_name(name);
    }
  }
  return names;
}

fs::path Library::folder_of(const ClassDefinition& top) const {
  const auto node = state_->nodes.find(&top);
  if (node == state_->nodes.end() || !node->second.folder) return {};
  return node->second.folder->path();
}

void Library::allow_reading(const fs::path& file) {
  std::error_code problem;
  const fs::path whole = fs::canonical(file, problem);
  if (!problem) state_->readable.insert(whole);
}

bool Library::may_read(const fs::path& file) const {
  std::error_code problem;
  fs::path at = fs::canonical(file, problem);
  if (problem) return false;
  for (; at.has_relative_path(); at = at.parent_path())
    if (state_->readable.contains(at)) return true;
  return false;
}

std::size_t Library::files_read() const { return state_->files.size(); }

}  // namespace saltus
