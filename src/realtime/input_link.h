#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "realtime/frame.h"

namespace saltus {

struct InputLinkOptions {
  int udp_port = 0;           // on 127.0.0.1; 0: none
  std::string shared_memory;  // name of a POSIX shared memory object; empty: none
  double wait = 0.0;          // s, at most for a new frame in each sample
};

// What came over a link. Samples without a new frame hold the values of the last one.
struct LinkCounts {
  std::size_t taken = 0;      // frames
  std::size_t held = 0;       // samples without a new frame
  std::size_t lost = 0;       // sequence numbers that were left out
  std::size_t late = 0;       // frames older than one that was taken
  std::size_t restarts = 0;   // of the sender: kRestart late frames in a row that count up
  std::size_t repeated = 0;   // frames with the number of the one before
  std::size_t malformed = 0;  // no frame, or its checksum is wrong; samples without the memory
  std::size_t skipped = 0;    // good frames that a newer one of the same sample replaced
};

// The link to a control unit: takes the newest good frame of inputs, answers with outputs. It never
// blocks longer than it is told to and does not allocate after construction.
//
// Shared memory: 64 bytes ("SLTM", then as 4-byte numbers version 1, offset and number of inputs,
// offset and number of outputs), and at each offset an 8-byte counter that is odd while the frame
// behind it is written. The simulator makes the object and removes it.
class InputLink {
 public:
  // Throws Error if the system refuses the port or the memory.
  InputLink(const InputLinkOptions& options, std::size_t inputs, std::size_t outputs,
            const std::vector<double>& start);
  ~InputLink();
  InputLink(const InputLink&) = delete;
  InputLink& operator=(const InputLink&) = delete;

  static constexpr std::size_t kRestart = 8;

  // The inputs for the sample at hand.
  const double* receive() noexcept;
  void send(double time, unsigned status, const double* outputs) noexcept;
  const LinkCounts& counts() const { return counts_; }

 private:
  void judge(std::size_t size) noexcept;
  bool is_restart() noexcept;
  void poll_socket() noexcept;
  void poll_memory() noexcept;

  struct System;  // handles
  std::unique_ptr<System> system_;
  InputLinkOptions options_;
  LinkCounts counts_;
  Frame inputs_, candidate_, outputs_;
  std::uint64_t last_late_ = 0;  // its number
  std::size_t late_in_a_row_ = 0;
  bool has_frame_ = false;
  bool is_new_ = false;
  std::vector<unsigned char> in_bytes_, out_bytes_;
};

}  // namespace saltus
