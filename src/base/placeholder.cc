#include "base/placeholder.h"

namespace saltus {
namespace {

constexpr char kMark = '\x1f';  // separates units of information; no text of a model has it

}  // namespace

std::string placeholder(const std::string& name) { return kMark + name + kMark; }

bool has_placeholders(const std::string& text) { return text.find(kMark) != std::string::npos; }

std::string fill_placeholders(const std::string& text,
                              const std::function<std::string(const std::string& name)>& value) {
  std::string filled;
  std::size_t from = 0;
  while (true) {
    const std::size_t begin = text.find(kMark, from);
    const std::size_t end = begin == std::string::npos ? begin : text.find(kMark, begin + 1);
    if (end == std::string::npos) break;
    filled += text.substr(from, begin - from);
    filled += value(text.substr(begin + 1, end - begin - 1));
    from = end + 1;
  }
  return filled + text.substr(from);
}

}  // namespace saltus
