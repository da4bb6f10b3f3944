#pragma once

#include <map>
#include <memory>
#include <typeindex>
#include <typeinfo>

namespace saltus {

// Results of pure functions that do not depend on the numbers of a run: modes as analysed, formulas
// as compiled. While one is in force on a thread, such functions look here before they work, and
// leave their results here. For many runs of one system.
//
//   KeptWork work(&system.graph());
//   const KeptWork::Scope scope(work);
//   simulate(system, options);   // analyses the modes
//   system.set("J", 0.3);
//   simulate(system, options);   // finds them
//
// Keys are made of expressions of one graph, which must outlive this.
class KeptWork {
 public:
  // `of`: the graph.
  explicit KeptWork(const void* of) : of_(of) {}
  KeptWork(const KeptWork&) = delete;
  KeptWork& operator=(const KeptWork&) = delete;

  // What is in force on this thread for this graph; null: nothing.
  static KeptWork* of(const void* graph) {
    return current_ != nullptr && current_->of_ == graph ? current_ : nullptr;
  }

  // The same whatever graph it is for: for keys that are kept alive with their answers.
  static KeptWork* current() { return current_; }

  // One a type, made when it is first asked for.
  template <class Table>
  Table& table() {
    std::shared_ptr<void>& place = tables_[std::type_index(typeid(Table))];
    if (place == nullptr) place = std::make_shared<Table>();
    return *static_cast<Table*>(place.get());
  }

  class Scope {
   public:
    explicit Scope(KeptWork& work) : outer_(current_) { current_ = &work; }
    ~Scope() { current_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    KeptWork* outer_;
  };

 private:
  static inline thread_local KeptWork* current_ = nullptr;

  const void* of_;
  std::map<std::type_index, std::shared_ptr<void>> tables_;
};

}  // namespace saltus
