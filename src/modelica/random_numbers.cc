#include "modelica/random_numbers.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/error.h"
#include "expr/function.h"

namespace saltus {
namespace {

std::size_t state_size(const std::string& function) {
  if (function.ends_with("64star")) return 2;
  return function.ends_with("128plus") ? 4 : 33;
}

std::uint64_t word_of(const std::vector<double>& state, std::size_t k) {
  const auto half = [&](std::size_t i) {
    return static_cast<std::uint64_t>(
        static_cast<std::uint32_t>(static_cast<std::int32_t>(state[i])));
  };
  return half(2 * k) | half(2 * k + 1) << 32;
}

void append_word(std::uint64_t word, std::vector<double>& out) {
  out.push_back(static_cast<double>(static_cast<std::int32_t>(word & 0xffffffffu)));
  out.push_back(static_cast<double>(static_cast<std::int32_t>(word >> 32)));
}

double unit_interval(std::uint64_t word) {
  return static_cast<double>(static_cast<std::int64_t>(word)) * 0x1p-64 + 0.5;
}

}  // namespace

std::vector<double> random_step(const std::string& function, const std::vector<double>& state) {
  std::vector<double> out(1);
  if (function.ends_with("1024star")) {
    std::uint64_t words[16];
    for (std::size_t k = 0; k < 16; ++k) words[k] = word_of(state, k);
    const auto place = static_cast<std::size_t>(state[32]) & 15u;
    const std::size_t next = (place + 1) & 15u;
    std::uint64_t a = words[place];
    std::uint64_t b = words[next];
    b ^= b << 31;
    b ^= b >> 11;
    a ^= a >> 30;
    words[next] = a ^ b;
    out[0] = unit_interval(words[next] * 1181783497276652981u);
    for (const std::uint64_t word : words) append_word(word, out);
    out.push_back(static_cast<double>(next));
  } else if (function.ends_with("128plus")) {
    std::uint64_t a = word_of(state, 0);
    const std::uint64_t b = word_of(state, 1);
    a ^= a << 23;
    const std::uint64_t sum = (a ^ b ^ (a >> 17) ^ (b >> 26)) + b;
    out[0] = unit_interval(sum);
    append_word(b, out);
    append_word(sum, out);
  } else {
    std::uint64_t a = word_of(state, 0);
    a ^= a >> 12;
    a ^= a << 25;
    a ^= a >> 27;
    a *= 2685821657736338717u;
    out[0] = unit_interval(a);
    append_word(a, out);
  }
  return out;
}

std::vector<Value> random_step(const std::string& function, const Value& state,
                               const Place& place) {
  const std::size_t size = state_size(function);
  if (state.numbers.size() != size)
    throw Error(fmt::format("{}() needs a state of {} Integers, not {}", function, size,
                            state.numbers.size()),
                place.location());
  std::vector<double> known;
  for (const Expr& e : state.numbers)
    if (e.is_number()) known.push_back(e.number());
  std::vector<Expr> results;
  if (known.size() == size) {
    for (const double number : random_step(function, known)) results.emplace_back(number);
  } else {
    for (std::size_t k = 0; k <= size; ++k) {
      auto part = std::make_shared<Function>();
      part->name = fmt::format("{}_{}", function, k);
      part->arity = size;
      part->evaluate = [function, size, k](const double* arguments) {
        return random_step(function, std::vector<double>(arguments, arguments + size))[k];
      };
      // It jumps from one state to the next: there is no slope to speak of.
      part->partial = [](std::size_t, const std::vector<Expr>&) { return Expr(0.0); };
      results.push_back(call(part, state.numbers));
    }
  }
  Value number = Value::real(results.front());
  Value next = state;
  next.numbers.assign(results.begin() + 1, results.end());
  return {std::move(number), std::move(next)};
}

}  // namespace saltus
