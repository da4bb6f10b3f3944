#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "modelica/package_folder.h"
#include "modelica/parser.h"
#include "simulate/simulate.h"

// Models with one mistake each, in modelica_errors. The first line of each says in which line it
// has to be found and a regular expression for the cause: "// 4: expected ';'".

namespace saltus {
namespace {

namespace fs = std::filesystem;

struct Expectation {
  int line = 0;
  std::string cause;
};

Expectation expectation_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string text;
  std::getline(stream, text);
  static const std::regex header("// ([0-9]+): (.*)");
  std::smatch match;
  if (!std::regex_match(text, match, header)) {
    ADD_FAILURE() << file << " does not start with '// LINE: CAUSE'";
    return {};
  }
  return {std::stoi(match[1]), match[2]};
}

std::vector<fs::path> sources(bool syntactic) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(SALTUS_ERROR_SOURCES)) {
    const bool is_syntactic = entry.path().filename().string().starts_with("syntax_");
    if (is_syntactic == syntactic) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(ModelicaErrors, SyntaxIsReportedOnceAtItsLineWithItsCause) {
  const std::vector<fs::path> files = sources(true);
  EXPECT_EQ(files.size(), 20U);
  for (const fs::path& file : files) {
    const Expectation expected = expectation_of(file);
    const ParseResult result = parse_modelica(read_text_file(file), file.filename().string());
    ASSERT_FALSE(result.errors.empty()) << file;
    const std::string text = to_error(result.errors).what();
    EXPECT_EQ(result.errors.size(), 1U) << text;
    EXPECT_EQ(result.errors.front().where.line, expected.line) << text;
    EXPECT_TRUE(std::regex_search(result.errors.front().message, std::regex(expected.cause)))
        << text << "\nexpected: " << expected.cause;
  }
}

// What `simulate` says about a file, from reading to the first mode: errors and warnings.
std::vector<std::string> messages_of(const fs::path& file) {
  try {
    FlatModel flat = load_modelica(file.string(), {.use_modelica_path = false});
    std::vector<std::string> messages = flat.warnings;
    simulate(build(std::move(flat)), {.stop_time = 0.01});
    return messages;
  } catch (const Error& error) {
    return {error.what()};
  }
}

TEST(ModelicaErrors, MeaningIsReportedAtItsLineWithItsCause) {
  const std::vector<fs::path> files = sources(false);
  EXPECT_EQ(files.size(), 21U);
  for (const fs::path& file : files) {
    const Expectation expected = expectation_of(file);
    const std::vector<std::string> messages = messages_of(file);
    const std::string at = file.string() + ":" + std::to_string(expected.line) + ":";
    const bool found =
        std::any_of(messages.begin(), messages.end(), [&](const std::string& message) {
          return message.starts_with(at) &&
                 std::regex_search(message.substr(at.size()), std::regex(expected.cause));
        });
    EXPECT_TRUE(found) << file.filename() << ": expected in line " << expected.line << ": "
                       << expected.cause
                       << "\nfound: " << (messages.empty() ? "nothing" : messages.front());
  }
}

}  // namespace
}  // namespace saltus
