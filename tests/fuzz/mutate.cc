#include <algorithm>
#include <cctype>
#include <chrono>
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

// A driver for compilers without libFuzzer, and for the tests: tries the files given as they are,
// then mutates them.
//   program COUNT FILE...        so many inputs, or as long: 60m are sixty minutes
// The inputs depend on nothing but the files and the environment variable FUZZ_SEED, so a failure
// repeats; the input that made it is left in fuzz_input.mo.

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

// On a stack of their own: endless recursion leaves no room on the other.
void catch_signals() {
  constexpr std::size_t kRoom = 1U << 16U;
  static char room[kRoom];
  stack_t stack{};
  stack.ss_sp = room;
  stack.ss_size = kRoom;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = save_and_die;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS})
    sigaction(signal, &action, nullptr);
}

class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, unsigned seed)
      : seeds_(std::move(seeds)), generator_(seed) {}

  std::string next() {
    if (tried_ < seeds_.size()) return seeds_[tried_++];
    std::string text = seeds_[random(seeds_.size())];
    const std::size_t changes = 1 + random(8);
    // Changes of words leave many models whole, so that what comes after the parser is reached.
    const bool by_words = random(2) == 0;
    for (std::size_t i = 0; i < changes; ++i) {
      if (by_words) {
        change_word(text);
      } else {
        change(text);
      }
    }
    return text;
  }

 private:
  std::size_t random(std::size_t below) { return below == 0 ? 0 : generator_() % below; }

  struct Word {
    std::size_t begin = 0;
    std::size_t length = 0;
  };

  static bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  }

  // A word of letters and digits, or a single sign.
  Word word_at(const std::string& text, std::size_t at) const {
    Word word{at, 1};
    if (!is_letter(text[at])) return word;
    while (word.begin > 0 && is_letter(text[word.begin - 1])) --word.begin;
    while (word.begin + word.length < text.size() && is_letter(text[word.begin + word.length]))
      ++word.length;
    return word;
  }

  // A word becomes another word of the same kind: a number a number, a name a name.
  void change_word(std::string& text) {
    static constexpr std::string_view kNumbers[] = {"0",    "1",     "-1",    "2",      "0.5",
                                                    "1e-9", "1e9",   "1e300", "1e-300", "3",
                                                    "100",  "1e400", "0.1",   "7"};
    static constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "^", "<", ">", "=", ",", ";"};
    if (text.empty()) return;
    std::size_t at = random(text.size());
    for (int k = 0; k < 20 && std::isspace(static_cast<unsigned char>(text[at])) != 0; ++k)
      at = random(text.size());
    const Word word = word_at(text, at);
    const char first = text[word.begin];
    if (std::isdigit(static_cast<unsigned char>(first)) != 0) {
      text.replace(word.begin, word.length, kNumbers[random(std::size(kNumbers))]);
    } else if (is_letter(first)) {
      for (int k = 0; k < 50; ++k) {
        const Word other = word_at(text, random(text.size()));
        if (std::isalpha(static_cast<unsigned char>(text[other.begin])) == 0) continue;
        text.replace(word.begin, word.length, text.substr(other.begin, other.length));
        return;
      }
    } else if (random(8) == 0) {  // a line twice, or not at all
      const std::size_t begin =
          text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at);
      const std::size_t end = std::min(text.find('\n', at + 1), text.size());
      if (random(2) == 0) {
        text.erase(begin, end - begin);
      } else {
        text.insert(end, text.substr(begin, end - begin));
      }
    } else {
      text.replace(word.begin, word.length, kSigns[random(std::size(kSigns))]);
    }
  }

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
  std::size_t tried_ = 0;  // of them, as they are
  std::mt19937 generator_;
};

}  // namespace

// The sanitizer ends by a signal, so that the input it objects to is saved.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:max_allocation_size_mb=4000:hard_rss_limit_mb=6000";
}  // NOLINT

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
  catch_signals();
  const char* const chosen = std::getenv("FUZZ_SEED");
  Mutator mutator(std::move(seeds),
                  chosen == nullptr ? 1U : static_cast<unsigned>(std::atoi(chosen)));
  const bool is_time = std::string_view(argv[1]).ends_with('m');
  const int count = is_time ? 0 : std::atoi(argv[1]);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(std::atoi(argv[1]));
  // s of processor time: other programs do not count. Sanitizers are slow.
#ifdef __SANITIZE_ADDRESS__
  constexpr double kHang = 30.0;
#else
  constexpr double kHang = 5.0;
#endif
  int i = 0;
  for (; is_time ? std::chrono::steady_clock::now() < end : i < count; ++i) {
    current = mutator.next();
    const std::clock_t start = std::clock();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
    if (static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC > kHang) {
      save_current();
      std::fprintf(stderr, "input %d takes too long: see fuzz_input.mo\n", i);
      return 1;
    }
  }
  std::printf("%d inputs\n", i);
  return 0;
}
