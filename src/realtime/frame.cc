#include "realtime/frame.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace saltus {
namespace {

constexpr unsigned char kMagic[] = {'S', 'L', 'T', 'F'};
constexpr std::uint16_t kVersion = 1;

template <typename T>
void put(unsigned char* to, T value) noexcept {
  for (std::size_t k = 0; k < sizeof(T); ++k)
    to[k] = static_cast<unsigned char>(static_cast<std::uint64_t>(value) >> (8 * k));
}

template <typename T>
T get(const unsigned char* from) noexcept {
  std::uint64_t value = 0;
  for (std::size_t k = 0; k < sizeof(T); ++k) value |= std::uint64_t{from[k]} << (8 * k);
  return static_cast<T>(value);
}

}  // namespace

std::uint32_t crc32(std::span<const unsigned char> bytes) noexcept {
  std::uint32_t crc = 0xffffffffU;
  for (const unsigned char byte : bytes) {
    crc ^= byte;
    for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

void encode(const Frame& frame, std::span<unsigned char> bytes) noexcept {
  unsigned char* to = bytes.data();
  std::copy(std::begin(kMagic), std::end(kMagic), to);
  put<std::uint16_t>(to + 4, kVersion);
  put<std::uint16_t>(to + 6, frame.kind);
  put<std::uint64_t>(to + 8, frame.sequence);
  put<std::uint64_t>(to + 16, std::bit_cast<std::uint64_t>(frame.time));
  put<std::uint32_t>(to + 24, frame.status);
  put<std::uint32_t>(to + 28, static_cast<std::uint32_t>(frame.values.size()));
  for (std::size_t k = 0; k < frame.values.size(); ++k)
    put<std::uint64_t>(to + 32 + 8 * k, std::bit_cast<std::uint64_t>(frame.values[k]));
  put<std::uint32_t>(to + bytes.size() - 4, crc32(bytes.first(bytes.size() - 4)));
}

bool decode(std::span<const unsigned char> bytes, Frame::Kind kind, Frame& frame) noexcept {
  const unsigned char* from = bytes.data();
  if (bytes.size() != frame_size(frame.values.size()) ||
      !std::equal(std::begin(kMagic), std::end(kMagic), from) ||
      get<std::uint16_t>(from + 4) != kVersion || get<std::uint16_t>(from + 6) != kind ||
      get<std::uint32_t>(from + 28) != frame.values.size() ||
      get<std::uint32_t>(from + bytes.size() - 4) != crc32(bytes.first(bytes.size() - 4)))
    return false;
  frame.kind = kind;
  frame.sequence = get<std::uint64_t>(from + 8);
  frame.time = std::bit_cast<double>(get<std::uint64_t>(from + 16));
  frame.status = get<std::uint32_t>(from + 24);
  for (std::size_t k = 0; k < frame.values.size(); ++k)
    frame.values[k] = std::bit_cast<double>(get<std::uint64_t>(from + 32 + 8 * k));
  return true;
}

}  // namespace saltus
