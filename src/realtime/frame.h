#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace saltus {

// What simulator and control unit exchange once a sample, little-endian:
//
//   offset  bytes
//   0       4       "SLTF"
//   4       2       version, 1
//   6       2       0: inputs of the simulator, 1: its outputs
//   8       8       sequence number, counts up by one
//   16      8       time, s (IEEE 754 double)
//   24      4       status: RealtimeStatus of the step; of inputs: free for the sender
//   28      4       n, number of values
//   32      8 n     values (IEEE 754 double)
//   32+8n   4       CRC-32 (IEEE 802.3) of all bytes before
struct Frame {
  enum Kind : std::uint16_t { kInputs = 0, kOutputs = 1 };
  Kind kind = kInputs;
  std::uint64_t sequence = 0;
  double time = 0.0;
  std::uint32_t status = 0;
  std::vector<double> values;
};

constexpr std::size_t frame_size(std::size_t values) { return 36 + 8 * values; }

// Pre: bytes.size() == frame_size(frame.values.size()). Does not allocate.
void encode(const Frame& frame, std::span<unsigned char> bytes) noexcept;

// False, with `frame` as it was, if the bytes are no frame of this kind with as many values as
// `frame` has. Does not allocate.
bool decode(std::span<const unsigned char> bytes, Frame::Kind kind, Frame& frame) noexcept;

std::uint32_t crc32(std::span<const unsigned char> bytes) noexcept;

}  // namespace saltus
