#include "oracle/writings.h"

#include <fmt/format.h>

#include "oracle/write_equations.h"
#include "oracle/write_library.h"

namespace saltus::oracle {

const std::vector<std::pair<std::string, Writing>>& writings() {
  static const std::vector<std::pair<std::string, Writing>> all = {
      {"library", Writing::kLibrary}, {"sign", Writing::kSign}, {"when", Writing::kWhen}};
  return all;
}

std::optional<Written> write(const Network& network, Writing writing) {
  switch (writing) {
    case Writing::kLibrary:
      return write_library(network);
    case Writing::kSign:
      return write_equations(network, write_sign);
    case Writing::kWhen:
      return write_equations(network, write_when);
  }
  return {};
}

}  // namespace saltus::oracle
