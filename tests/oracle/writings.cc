#include "oracle/writings.h"

#include <fmt/format.h>

#include "oracle/write_equations.h"
#include "oracle/write_library.h"
#include "oracle/write_machine.h"
#include "oracle/write_system.h"

namespace saltus::oracle {

const std::vector<std::pair<std::string, Writing>>& writings() {
  static const std::vector<std::pair<std::string, Writing>> all = {
      {"library", Writing::kLibrary}, {"sign", Writing::kSign},       {"diode", Writing::kDiode},
      {"when", Writing::kWhen},       {"machine", Writing::kMachine}, {"msl", Writing::kMsl},
      {"cpp", Writing::kSystem}};
  return all;
}

std::optional<Written> write(const Network& network, Writing writing) {
  switch (writing) {
    case Writing::kLibrary:
      return write_library(network);
    case Writing::kSign:
      return write_equations(network, write_sign);
    case Writing::kDiode:
      if (!network.has(Kind::kFreeWheel)) return {};
      return write_equations(network, write_diode);
    case Writing::kMachine:
      if (network.has(Kind::kBacklash)) return {};
      return write_machine(network);
    case Writing::kMsl:
      if (network.has(Kind::kBacklash)) return {};
      return write_equations(network, write_msl);
    case Writing::kSystem:
      return write_system(network);
    case Writing::kWhen:
      return write_equations(network, write_when);
  }
  return {};
}

}  // namespace saltus::oracle
