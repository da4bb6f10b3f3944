#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// A driver for compilers without libFuzzer, and for the tests: mutates the files given.
//   program COUNT FILE...
// The inputs depend on nothing but the files, so a failure repeats; the input that made it is left
// in fuzz_input.mo.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::string_view kWords[] = {"model ",      "end ",
                                       "if ",         "then ",
                                       "else ",       "for ",
                                       "loop ",       "when ",
                                       "equation ",   "(",
                                       ")",           "[",
                                       "]",           "{",
                                       "}",           ";",
                                       ",",           "\"",
                                       "'",           "/*",
                                       "//",          "=",
                                       ":=",          "1e",
                                       ".",           "end",
                                       "annotation(", "der(",
                                       "extends ",    "redeclare ",
                                       "not ",        "-",
                                       "^",           "enumeration(",
                                       "\\",          "\xC3",
                                       "1e999"};

std::string current;  // the input being tried

void save_current() { std::ofstream("fuzz_input.mo", std::ios::binary) << current; }

extern "C" void save_and_die(int signal) {
  save_current();  // not safe in a handler, but there is nothing left to lose
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  std::string next() {
    std::string text = seeds_[random(seeds_.size())];
    const std::size_t changes = 1 + random(8);
    for (std::size_t i = 0; i < changes; ++i) change(text);
    return text;
  }

 private:
  std::size_t random(std::size_t below) { return below == 0 ? 0 : generator_() % below; }

  void change(std::string& text) {
    const std::size_t at = random(text.size() + 1);
    const std::size_t length = std::min(random(40), text.size() - at);
    switch (random(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(random(text.size() + 1), random(60)));
        break;
      case 2:
        text.insert(at, kWords[random(std::size(kWords))]);
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(random(256));
        break;
      case 4: {
        const std::string& other = seeds_[random(seeds_.size())];
        text.insert(at, other.substr(random(other.size() + 1), random(200)));
        break;
      }
      default:
        text.resize(at);
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937 generator_{1};  // NOLINT: the same inputs every time
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s COUNT FILE...\n", argv[0]);
    return 2;
  }
  std::vector<std::string> seeds;
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (seeds.back().empty()) {
      std::fprintf(stderr, "%s: empty or unreadable\n", argv[i]);
      return 2;
    }
  }
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, save_and_die);
  Mutator mutator(std::move(seeds));
  const int count = std::atoi(argv[1]);
  constexpr double kHang = 2.0;  // s of processor time: other programs do not count
  for (int i = 0; i < count; ++i) {
    current = mutator.next();
    const std::clock_t start = std::clock();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
    if (static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC > kHang) {
      save_current();
      std::fprintf(stderr, "input %d takes too long: see fuzz_input.mo\n", i);
      return 1;
    }
  }
  std::printf("%d inputs\n", count);
  return 0;
}
