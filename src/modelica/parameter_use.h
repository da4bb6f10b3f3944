#pragma once

#include <set>
#include <string>

namespace saltus {

// While it lives, collects on this thread the parameters whose values decide what a model is
// translated to: conditions, sizes, tables. All others are still parameters of the flat model and
// may be set there; these may not.
class ParameterUse {
 public:
  ParameterUse();
  ~ParameterUse();
  ParameterUse(const ParameterUse&) = delete;
  ParameterUse& operator=(const ParameterUse&) = delete;

  const std::set<std::string>& names() const { return names_; }

  // For the translator: the collection under way, null if there is none.
  static ParameterUse* present();
  void note(const std::string& name) { names_.insert(name); }

  // While it lives, values are only looked at (are they finite?) and decide nothing.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    ParameterUse* paused_;
  };

 private:
  std::set<std::string> names_;
  ParameterUse* outer_;
};

}  // namespace saltus
