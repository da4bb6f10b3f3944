#include "modelica/place.h"

#include <mutex>
#include <set>

namespace saltus {

const std::string* intern_file(const std::string& path) {
  static std::mutex mutex;
  static std::set<std::string> files;
  const std::lock_guard lock(mutex);
  return &*files.insert(path).first;
}

}  // namespace saltus
