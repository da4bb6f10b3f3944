#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "modelica/ast.h"

namespace saltus {

// The classes that models can name: those of the files given and those found in folders of
// packages. A file is read when a lookup first needs it. Pointers to classes stay valid as long as
// the library. Wrong text in a file that is needed throws Error.
//
// A package is a file Name.mo or a folder Name with a package.mo; the folder may be called
// "Name 4.0.0" as well, and of several versions the highest is taken.
class Library {
 public:
  Library();
  ~Library();
  Library(Library&&) noexcept;
  Library& operator=(Library&&) noexcept;

  // Folders searched for top-level packages, the first added first. Throws Error if there is none.
  void add_folder(const std::filesystem::path& folder);
  // The folders of the environment variable MODELICAPATH; those that do not exist are left out.
  void add_modelica_path();

  // Reads a file and adds its classes at the top level or, with a `within` clause, to that package.
  // A file of a package folder brings the whole package. Returns the classes, in order.
  std::vector<const ClassDefinition*> load_file(const std::filesystem::path& file);
  std::vector<const ClassDefinition*> load_text(std::string_view text, const std::string& file);

  // By full name, "A.B.C". Null: there is no such class.
  const ClassDefinition* find(std::string_view name);
  // The same, but throws Error, with the nearest name, where there is none.
  const ClassDefinition& get(std::string_view name, const SourceLocation& where = {});

  // The class written in `parent` or stored in its folder; a null parent means the top level. Null:
  // there is none. Inherited and imported classes are not considered.
  const ClassDefinition* child(const ClassDefinition* parent, std::string_view name);
  // Names of the classes of `parent`, in the order of package.order; reads no further file.
  std::vector<std::string> child_names(const ClassDefinition* parent) const;

  // Whether a model may read this file: it lies below the folder of a file of the library, links
  // followed, or was allowed by name.
  bool may_read(const std::filesystem::path& file) const;
  void allow_reading(const std::filesystem::path& file);

  // The folder of a top-level package, where modelica:// addresses start; empty: none.
  std::filesystem::path folder_of(const ClassDefinition& top) const;

  std::size_t files_read() const;

 private:
  std::vector<const ClassDefinition*> add(const StoredDefinition& stored);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saltus
