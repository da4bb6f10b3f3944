#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "modelica/instance.h"
#include "modelica/library.h"

namespace saltus {

// Names and what they stand for (Modelica 3.6, chapters 5, 7 and 13).
//
// A class means something only in its context: the instance it is an element of, and the
// modifications that reach it there. So a class found by lookup is a ClassElement of an instance,
// and packages, functions and records are instances too (class_instance), whose elements are looked
// up in the same way as those of components. Nothing is evaluated here; instances are made when
// something first asks for them.
class InstanceTree {
 public:
  explicit InstanceTree(std::shared_ptr<Library> library);

  struct Found {
    const Value* local = nullptr;
    Instance* instance = nullptr;
    ClassElement* cls = nullptr;
    explicit operator bool() const {
      return local != nullptr || instance != nullptr || cls != nullptr;
    }
  };

  // --- lookup.cc
  Found lookup(const std::string& name, const Scope& scope, bool past_shadows = false);
  Found lookup_top(const std::string& name);
  Found lookup_qualified(const Name& name);          // from the top
  const char* import_problem(const Import& import);  // null: none
  // What is inside a class or component, inherited things included, but nothing around it.
  Found member_of(ClassElement& cls, const std::string& name);
  Found member_of(Instance& instance, const std::string& name);
  ClassElement& lookup_class(const Name& name, const Scope& scope);  // throws Error
  void check_lookup_in(ClassElement& cls, const Found& found, const std::string& name,
                       const Place& place);
  [[noreturn]] void unknown_name(const std::string& name, const std::string& whole,
                                 const Scope& scope, const Place& place);
  [[noreturn]] void refuse_import(const Import& import, const char* problem);
  // Names of the classes and components inside a class, for suggestions.
  std::vector<std::string> names_in(const ClassInfo& info) const;

  // --- class_info.cc
  ClassElement& element_of(const ClassDefinition& definition);  // by its place in the library
  const TypeRef& type_of(ClassElement& cls);
  Instance& class_instance(ClassElement& cls);
  // Gives an instance its type. Pre: it has its layers.
  void set_type(Instance& instance, const TypeRef& type);
  const ClassDefinition* builtin(std::string_view name) const;  // null: none
  const ClassInfo::Member& member(const ClassInfo& info, const std::string& name);

  // --- elements.cc
  void expand(Instance& instance);
  Instance* find_child(Instance& instance, std::string_view name);
  // The modifications that reach an element by way of its base class.
  Layers layers_for(Instance& instance, const ClassInfo& info, std::size_t base,
                    std::string_view name);

  Library& library() { return *library_; }

  // The model that is being translated; null: none yet.
  std::unique_ptr<Instance> root;
  // Functions that are run with numbers ask for instances while the model is simulated.
  std::recursive_mutex mutex;

 private:
  Found lookup_in(const std::string& name, const Scope& scope);  // not outward
  Found imported(const std::string& name, const ClassDefinition& definition);
  static Scope outward(const Scope& scope);
  std::vector<std::string> visible_names(const Scope& scope);

  ClassElement* class_element(Instance& instance, const std::string& name);
  ClassElement* inner_class(const Instance& instance, const std::string& name);
  ClassElement* early_class(const Scope& scope, const std::string& name);
  std::unique_ptr<ClassElement> make_element(Instance& instance, const ClassInfo::Member& found,
                                             const std::string& name);
  ClassElement& inherited_class(const ClassDefinition& definition, const Scope& scope);
  const TypeRef& stripped(ClassElement& cls);
  void check_promises(ClassElement& cls);
  const ClassInfo& info_of(const TypeRef& type, Instance& holder);
  void check_rules(const ClassDefinition& definition);
  void check_class_element(const ClassInfo& target, std::size_t first, const ClassDefinition& own);
  void add_bases(ClassInfo& target, Instance& holder, const ClassDefinition& definition,
                 const Scope& around, const std::vector<BaseLayer>& on_the_way, int depth);
  void add_base(ClassInfo& target, Instance& holder, ClassElement& base,
                const Modification* modification, const ClassDefinition& lexical,
                const std::vector<BaseLayer>& on_the_way, const Place& place, int depth);

  std::shared_ptr<Library> library_;
  std::vector<std::shared_ptr<ClassDefinition>> builtin_classes_;
  std::unordered_map<std::string_view, const ClassDefinition*> builtins_;
  std::unordered_map<std::string, std::unique_ptr<ClassElement>> top_;
  using InfoKey = std::tuple<const ClassDefinition*, const Instance*, const ClassDefinition*>;
  std::map<InfoKey, std::unique_ptr<ClassInfo>> infos_;
  std::unordered_map<const ClassDefinition*, std::unordered_map<std::string, Found>> imports_;
  std::vector<std::unique_ptr<ClassElement>> others_;  // that are no elements of an instance
  std::vector<std::unique_ptr<Instance>> discarded_;
  std::unordered_set<const ClassDefinition*> checked_;  // by class_rules.h
};

}  // namespace saltus
