#include "realtime/input_link.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/error.h"

namespace saltus {
namespace {

constexpr std::size_t kHead = 64;  // of shared memory

std::size_t padded(std::size_t size) { return (size + 7) / 8 * 8; }

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

struct InputLink::System {
  int socket = -1;
  sockaddr_in peer{};
  bool has_peer = false;
  int memory_file = -1;
  std::string memory_name;
  unsigned char* memory = nullptr;
  std::size_t memory_size = 0;
  std::size_t in_at = 0;
  std::size_t out_at = 0;
  std::uint64_t seen = 0;  // counter of the last frame read from memory

  std::atomic_ref<std::uint64_t> counter(std::size_t at) const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(memory + at));
  }
  // Whoever shortens the object must not end the simulation with SIGBUS.
  bool has_memory() const {
    struct stat status {};
    return memory != nullptr && fstat(memory_file, &status) == 0 &&
           status.st_size >= static_cast<off_t>(memory_size);
  }
  ~System() {
    if (socket >= 0) close(socket);
    if (memory != nullptr) munmap(memory, memory_size);
    if (memory_file >= 0) {
      close(memory_file);
      shm_unlink(memory_name.c_str());
    }
  }
};

InputLink::~InputLink() = default;

InputLink::InputLink(const InputLinkOptions& options, std::size_t inputs, std::size_t outputs,
                     const std::vector<double>& start)
    : system_(std::make_unique<System>()), options_(options) {
  inputs_.values = candidate_.values = start;
  outputs_.kind = Frame::kOutputs;
  outputs_.values.resize(outputs);
  in_bytes_.resize(frame_size(inputs) + 1);  // one more: what is too long shows
  out_bytes_.resize(frame_size(outputs));
  System& s = *system_;
  const auto refuse = [](const std::string& what) {
    throw Error(fmt::format("{}: {}", what, std::strerror(errno)));
  };
  if (options.udp_port > 0) {
    s.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s.socket < 0) refuse("no UDP socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(options.udp_port));
    if (bind(s.socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      refuse(fmt::format("UDP port {} of 127.0.0.1", options.udp_port));
  }
  if (!options.shared_memory.empty()) {
    s.memory_name = options.shared_memory.starts_with('/') ? options.shared_memory
                                                           : "/" + options.shared_memory;
    s.in_at = kHead;
    s.out_at = s.in_at + 8 + padded(frame_size(inputs));
    s.memory_size = s.out_at + 8 + padded(frame_size(outputs));
    s.memory_file = shm_open(s.memory_name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (s.memory_file < 0) refuse(fmt::format("shared memory '{}'", s.memory_name));
    if (ftruncate(s.memory_file, static_cast<off_t>(s.memory_size)) != 0)
      refuse(fmt::format("shared memory '{}'", s.memory_name));
    void* memory =
        mmap(nullptr, s.memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, s.memory_file, 0);
    if (memory == MAP_FAILED) refuse(fmt::format("shared memory '{}'", s.memory_name));
    s.memory = static_cast<unsigned char*>(memory);
    const std::uint32_t head[] = {
        1, static_cast<std::uint32_t>(s.in_at), static_cast<std::uint32_t>(inputs),
        static_cast<std::uint32_t>(s.out_at), static_cast<std::uint32_t>(outputs)};
    std::memcpy(s.memory + 4, head, sizeof head);
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(s.memory, "SLTM", 4);  // last: now it is ready
  }
}

// A control unit that was started again counts from its beginning: what is late again and again
// while it counts up is no frame that went astray.
bool InputLink::is_restart() noexcept {
  late_in_a_row_ =
      late_in_a_row_ > 0 && candidate_.sequence == last_late_ + 1 ? late_in_a_row_ + 1 : 1;
  last_late_ = candidate_.sequence;
  if (late_in_a_row_ < kRestart) return false;
  ++counts_.restarts;
  return true;
}

// A frame came, in in_bytes_.
void InputLink::judge(std::size_t size) noexcept {
  if (!decode(std::span(in_bytes_).first(size), Frame::kInputs, candidate_)) {
    ++counts_.malformed;
    return;
  }
  if (has_frame_ && candidate_.sequence == inputs_.sequence) {
    ++counts_.repeated;
    return;
  }
  const bool is_late = has_frame_ && candidate_.sequence < inputs_.sequence;
  if (is_late) ++counts_.late;
  if (is_late && !is_restart()) return;
  if (has_frame_ && !is_late) counts_.lost += candidate_.sequence - inputs_.sequence - 1;
  late_in_a_row_ = 0;
  if (is_new_) ++counts_.skipped;
  std::swap(inputs_, candidate_);
  has_frame_ = is_new_ = true;
  ++counts_.taken;
}

void InputLink::poll_socket() noexcept {
  constexpr int kMostDatagrams = 64;  // in one sample: work is bounded
  for (int k = 0; k < kMostDatagrams; ++k) {
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const ssize_t size = recvfrom(system_->socket, in_bytes_.data(), in_bytes_.size(), MSG_DONTWAIT,
                                  reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0) return;
    const std::size_t taken = counts_.taken;
    judge(static_cast<std::size_t>(size));
    if (counts_.taken == taken) continue;
    system_->peer = from;
    system_->has_peer = true;
  }
}

void InputLink::poll_memory() noexcept {
  System& s = *system_;
  constexpr int kMostTries = 8;
  for (int k = 0; k < kMostTries; ++k) {
    const std::uint64_t before = s.counter(s.in_at).load(std::memory_order_acquire);
    if (before == s.seen) return;
    if (before % 2 != 0) continue;  // it is being written
    const std::size_t size = in_bytes_.size() - 1;
    std::memcpy(in_bytes_.data(), s.memory + s.in_at + 8, size);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (s.counter(s.in_at).load(std::memory_order_relaxed) != before) continue;
    s.seen = before;
    judge(size);
    return;
  }
}

const double* InputLink::receive() noexcept {
  const double deadline = options_.wait > 0.0 ? now() + options_.wait : 0.0;
  const bool has_memory = system_->has_memory();
  if (system_->memory != nullptr && !has_memory) ++counts_.malformed;
  is_new_ = false;
  for (;;) {
    if (system_->socket >= 0) poll_socket();
    if (system_->memory != nullptr && has_memory) poll_memory();
    const double left = options_.wait > 0.0 ? deadline - now() : 0.0;
    if (is_new_ || left <= 0.0) break;
    if (system_->socket >= 0) {
      pollfd waiting{system_->socket, POLLIN, 0};
      poll(&waiting, 1, std::max(1, static_cast<int>(1e3 * left)));
    } else {
      const timespec nap{0, 20000};
      nanosleep(&nap, nullptr);
    }
  }
  if (!is_new_) ++counts_.held;
  return inputs_.values.data();
}

void InputLink::send(double time, unsigned status, const double* outputs) noexcept {
  outputs_.time = time;
  outputs_.status = status;
  std::copy_n(outputs, outputs_.values.size(), outputs_.values.begin());
  encode(outputs_, out_bytes_);
  ++outputs_.sequence;
  System& s = *system_;
  if (s.socket >= 0 && s.has_peer)
    // A peer that is gone is no fault of the simulator's: what cannot be sent is dropped.
    static_cast<void>(sendto(s.socket, out_bytes_.data(), out_bytes_.size(), MSG_DONTWAIT,
                             reinterpret_cast<const sockaddr*>(&s.peer), sizeof s.peer));
  if (s.has_memory()) {
    const std::uint64_t count = s.counter(s.out_at).load(std::memory_order_relaxed);
    s.counter(s.out_at).store(count + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(s.memory + s.out_at + 8, out_bytes_.data(), out_bytes_.size());
    s.counter(s.out_at).store(count + 2, std::memory_order_release);
  }
}

}  // namespace saltus
