#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "realtime/frame.h"
#include "realtime/input_link.h"
#include "realtime/input_table.h"
#include "realtime/realtime_run.h"

// Inputs of the fixed-step engine: held values, garbage, files, frames.

namespace saltus {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

HybridSystem from_text(const std::string& text) { return build(load_modelica_text(text)); }

const char* const kMass = R"(model Mass
  input Real f(start = 2);
  Real x(start = 0, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = f;
end Mass;)";

std::string write_file(const std::string& name, const std::string& text) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / name).string();
  std::ofstream(path) << text;
  return path;
}

std::string refusal_of_file(const std::string& text) {
  try {
    InputTable(write_file("saltus_bad.csv", text), {{"f", false, 0.0}, {"g", false, 0.0}});
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

// x and v by hand: constant force over each sample.
TEST(RealtimeInputs, AreHeldOverTheStep) {
  const HybridSystem system = from_text(kMass);
  RealtimeEngine engine(system, {.step = 0.1, .stop_time = 1.0, .outputs = {"x", "v", "f"}});
  ASSERT_EQ(engine.inputs().size(), 1U);
  EXPECT_EQ(engine.inputs()[0].name, "f");
  EXPECT_EQ(engine.inputs()[0].start, 2.0);
  double x = 0.0, v = 0.0, row[3];
  for (int k = 0; k < 50; ++k) {
    const double f = std::sin(1.7 * k);
    EXPECT_EQ(engine.step(&f), 0U);
    x += 0.1 * v + 0.005 * f;
    v += 0.1 * f;
    engine.read_outputs(row);
    EXPECT_NEAR(row[0], x, 1e-13);
    EXPECT_NEAR(row[1], v, 1e-13);
    EXPECT_EQ(row[2], f);
  }
}

TEST(RealtimeInputs, WithoutInputsTheStartValueHolds) {
  const HybridSystem system = from_text(kMass);
  RealtimeRunOptions options;
  options.engine = {.step = 0.1, .stop_time = 1.0};
  const RealtimeResult result = run_realtime(system, options);
  EXPECT_NEAR(result.run.final.at("v"), 2.0, 1e-13);
}

TEST(RealtimeInputs, GarbageIsRefusedHeldAndForgotten) {
  const HybridSystem system = from_text(kMass);
  RealtimeEngine engine(system, {.step = 0.1, .stop_time = 1.0, .outputs = {"v"}});
  double v = 0.0, row[1];
  double held = 2.0;
  const double given[] = {1.0, NAN, kInfinity, -3.0, -kInfinity, 1e9, 0.5};
  for (const double f : given) {
    const unsigned status = engine.step(&f);
    EXPECT_EQ((status & kInputRefused) != 0, !std::isfinite(f));
    if (std::isfinite(f)) held = f;
    v += 0.1 * held;
    engine.read_outputs(row);
    EXPECT_NEAR(row[0], v, 1e-6);
  }
}

// A Boolean is 0 or 1, an Integer whole, an enumeration one of its literals.
TEST(RealtimeInputs, ValuesThatTheTypeDoesNotHaveAreRefused) {
  const HybridSystem system = from_text(R"(model Typed
  type Gear = enumeration(park, one, two);
  input Boolean on(start = false);
  input Integer n(start = 3);
  input Gear gear(start = Gear.one);
  Real y = (if on then 100 else 0) + 10*n + Integer(gear);
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
end Typed;)");
  RealtimeEngine engine(system, {.step = 0.1, .stop_time = 0.3, .outputs = {"y"}});
  ASSERT_EQ(engine.inputs().size(), 3U);
  const struct {
    double in[3];
    bool refused;
    double y;
  } cases[] = {
      {{1, 2, 3}, false, 123},         {{0.5, 1, 1}, true, 111},  {{-1, 1.5, 2}, true, 112},
      {{0, 4, 4}, true, 42},           {{0, 4, 0}, true, 42},     {{0, 4, 1.5}, true, 42},
      {{kInfinity, NAN, 3}, true, 43}, {{0, 1e300, 3}, true, 43}, {{1, -2, 1}, false, 81}};
  double row[1];
  for (const auto& c : cases) {
    EXPECT_EQ((engine.step(c.in) & kInputRefused) != 0, c.refused);
    engine.read_outputs(row);
    EXPECT_EQ(row[0], c.y);
  }
}

// The force makes the state overflow: it is held, told, and the next input that is fine goes on.
TEST(RealtimeInputs, AStateThatOverflowsIsHeldUntilTheInputRecovers) {
  const HybridSystem system = from_text(kMass);
  RealtimeEngine engine(system, {.step = 0.1, .stop_time = 1.0, .outputs = {"x", "v"}});
  double row[2];
  double f = 1.0;
  engine.step(&f);
  f = std::numeric_limits<double>::max();
  for (int k = 0; k < 20; ++k) engine.step(&f);
  engine.read_outputs(row);
  EXPECT_TRUE(std::isfinite(row[0]) && std::isfinite(row[1]));
  f = 0.0;
  const unsigned status = engine.step(&f);
  EXPECT_EQ(status & kStateNotFinite, 0U);
}

// A Boolean input is an event at the beginning of the sample; so is a Real one that a relation
// reads.
TEST(RealtimeInputs, ThatChangeRelationsAreEvents) {
  const HybridSystem system = from_text(R"(model Switched
  input Boolean on(start = false);
  input Real level(start = 0);
  Real x(start = 0, fixed = true);
  Integer edges(start = 0, fixed = true);
equation
  der(x) = if on then 1 else 0;
  when level > 0.5 then
    edges = pre(edges) + 1;
  end when;
end Switched;)");
  RealtimeEngine engine(system, {.step = 0.1, .stop_time = 0.5, .outputs = {"x", "edges"}});
  double row[2];
  const double given[][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}, {1, 0.7}};
  for (const auto& in : given) engine.step(in);
  engine.read_outputs(row);
  EXPECT_NEAR(row[0], 0.3, 1e-13);
  EXPECT_EQ(row[1], 2.0);
}

TEST(RealtimeInputs, ComeFromAFileAndHoldBetweenItsRows) {
  const HybridSystem system = from_text(kMass);
  RealtimeRunOptions options;
  options.engine = {.step = 0.1, .stop_time = 1.0};
  options.input_file = write_file("saltus_force.csv", "time, f\n0.2, 1\n0.5,-1\n0.8,0.5\n");
  const RealtimeResult result = run_realtime(system, options);
  // 2 until 0.2, then 1 until 0.5, then -1 until 0.8.
  EXPECT_NEAR(result.run.final.at("v"), 0.4 + 0.3 - 0.3 + 0.1, 1e-12);
  EXPECT_EQ(result.refused, 0U);
}

TEST(RealtimeInputs, FilesThatAreWrongAreRefusedWithTheirLine) {
  EXPECT_NE(refusal_of_file("time,f,x\n").find(":1: 'x' is no input"), std::string::npos);
  EXPECT_NE(refusal_of_file("f\n1\n").find("no column 'time'"), std::string::npos);
  EXPECT_NE(refusal_of_file("time,f\n0,1\n1\n").find(":3: 1 values instead of 2"),
            std::string::npos);
  EXPECT_NE(refusal_of_file("time,f\n0,1\n1,a\n").find(":3: 'a' is no number"), std::string::npos);
  // What a control unit sends is judged when it comes, a file before the run.
  for (const char* number : {"nan", "inf", "-inf", "1e400"})
    EXPECT_NE(refusal_of_file(std::string("time,f\n0,1\n1,") + number + "\n").find(":3: '"),
              std::string::npos)
        << number;
  EXPECT_NE(refusal_of_file("time,f\n0,1\n1,\n").find(":3: '' is no number"), std::string::npos);
  EXPECT_NE(refusal_of_file("time,f\n1,1\n0,1\n").find(":3: times"), std::string::npos);
  EXPECT_NE(refusal_of_file("time,f,f\n").find("twice"), std::string::npos);
  EXPECT_NE(refusal_of_file("").find("empty"), std::string::npos);
  EXPECT_NE(refusal_of_file("time,\"u[1,2]\"\n").find("'u[1,2]' is no input"), std::string::npos);
}

// CRC-32 of "123456789" is the check value of its definition.
TEST(Frames, ChecksumIsCrc32) {
  const char* text = "123456789";
  std::vector<unsigned char> bytes(text, text + 9);
  EXPECT_EQ(crc32(bytes), 0xcbf43926U);
}

Frame frame_of(std::uint64_t sequence, double value) {
  Frame frame;
  frame.sequence = sequence;
  frame.values = {value};
  return frame;
}

std::vector<unsigned char> bytes_of(const Frame& frame) {
  std::vector<unsigned char> bytes(frame_size(frame.values.size()));
  encode(frame, bytes);
  return bytes;
}

TEST(Frames, OneFlippedBitAnywhereIsSeen) {
  const std::vector<unsigned char> good = bytes_of(frame_of(7, 0.25));
  Frame read = frame_of(0, 0.0);
  ASSERT_TRUE(decode(good, Frame::kInputs, read));
  EXPECT_EQ(read.sequence, 7U);
  EXPECT_EQ(read.values[0], 0.25);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::vector<unsigned char> bad = good;
    bad[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
    EXPECT_FALSE(decode(bad, Frame::kInputs, read)) << bit;
  }
  EXPECT_FALSE(decode(good, Frame::kOutputs, read));
  EXPECT_FALSE(decode(std::span(good).first(10), Frame::kInputs, read));
}

// A control unit on 127.0.0.1.
class Peer {
 public:
  explicit Peer(int port) : socket_(socket(AF_INET, SOCK_DGRAM, 0)) {
    to_.sin_family = AF_INET;
    to_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to_.sin_port = htons(static_cast<std::uint16_t>(port));
  }
  ~Peer() { close(socket_); }
  void send(const std::vector<unsigned char>& bytes) const {
    sendto(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to_),
           sizeof to_);
  }
  std::vector<unsigned char> receive() const {
    std::vector<unsigned char> bytes(1000);
    const ssize_t size = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
  }

 private:
  int socket_;
  sockaddr_in to_{};
};

// A port that was free a moment ago.
int free_port() {
  const int s = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(s, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  socklen_t length = sizeof address;
  getsockname(s, reinterpret_cast<sockaddr*>(&address), &length);
  close(s);
  return ntohs(address.sin_port);
}

TEST(InputLink, LostLateRepeatedAndMalformedFramesAreCountedAndTheLastGoodOneHolds) {
  const int port = free_port();
  InputLink link({.udp_port = port, .shared_memory = {}, .wait = 0.0}, 1, 1, {0.5});
  const Peer peer(port);
  EXPECT_EQ(link.receive()[0], 0.5);  // nothing yet
  peer.send(bytes_of(frame_of(1, 1.0)));
  EXPECT_EQ(link.receive()[0], 1.0);
  peer.send(bytes_of(frame_of(4, 4.0)));  // 2 and 3 are lost
  EXPECT_EQ(link.receive()[0], 4.0);
  peer.send(bytes_of(frame_of(3, 3.0)));  // late
  EXPECT_EQ(link.receive()[0], 4.0);
  peer.send(bytes_of(frame_of(4, 9.0)));  // repeated
  EXPECT_EQ(link.receive()[0], 4.0);
  std::vector<unsigned char> bad = bytes_of(frame_of(5, 5.0));
  bad[35] ^= 1U;
  peer.send(bad);
  peer.send({1, 2, 3});
  peer.send(bytes_of({Frame::kInputs, 5, 0.0, 0, {1.0, 2.0}}));  // one value too many
  EXPECT_EQ(link.receive()[0], 4.0);
  peer.send(bytes_of(frame_of(5, 5.0)));
  peer.send(bytes_of(frame_of(6, 6.0)));
  EXPECT_EQ(link.receive()[0], 6.0);
  const LinkCounts& c = link.counts();
  EXPECT_EQ(c.taken, 4U);
  EXPECT_EQ(c.held, 4U);
  EXPECT_EQ(c.lost, 2U);
  EXPECT_EQ(c.late, 1U);
  EXPECT_EQ(c.repeated, 1U);
  EXPECT_EQ(c.malformed, 3U);
  EXPECT_EQ(c.skipped, 1U);

  const double out = 42.0;
  link.send(0.25, kEventTaken, &out);
  Frame answer = frame_of(0, 0.0);
  ASSERT_TRUE(decode(peer.receive(), Frame::kOutputs, answer));
  EXPECT_EQ(answer.time, 0.25);
  EXPECT_EQ(answer.status, kEventTaken);
  EXPECT_EQ(answer.values[0], 42.0);
}

// A control unit that starts again counts from zero: its ninth frame is taken at the latest.
TEST(InputLink, ASenderThatStartsAgainIsHeardAgain) {
  const int port = free_port();
  InputLink link({.udp_port = port, .shared_memory = {}, .wait = 0.0}, 1, 1, {0.5});
  const Peer peer(port);
  peer.send(bytes_of(frame_of(5000, 1.0)));
  EXPECT_EQ(link.receive()[0], 1.0);
  for (std::uint64_t k = 1; k < InputLink::kRestart; ++k) {
    peer.send(bytes_of(frame_of(k, 2.0)));
    EXPECT_EQ(link.receive()[0], 1.0) << k;
  }
  peer.send(bytes_of(frame_of(InputLink::kRestart, 3.0)));
  EXPECT_EQ(link.receive()[0], 3.0);
  peer.send(bytes_of(frame_of(InputLink::kRestart + 1, 4.0)));
  EXPECT_EQ(link.receive()[0], 4.0);
  EXPECT_EQ(link.counts().restarts, 1U);
  EXPECT_EQ(link.counts().lost, 0U);
  // Late ones that do not count up went astray.
  for (int k = 0; k < 40; ++k) peer.send(bytes_of(frame_of(k % 2, 9.0)));
  EXPECT_EQ(link.receive()[0], 4.0);
  EXPECT_EQ(link.counts().restarts, 1U);
}

// Datagrams of every length and of random bytes, with a good head or without.
TEST(InputLink, RandomDatagramsAreIgnored) {
  const int port = free_port();
  InputLink link({.udp_port = port, .shared_memory = {}, .wait = 0.0}, 2, 1, {0.5, 0.25});
  const Peer peer(port);
  std::mt19937_64 engine(17);
  std::size_t sent = 0;
  for (int round = 0; round < 200; ++round) {
    for (int k = 0; k < 20; ++k, ++sent) {
      std::vector<unsigned char> bytes(engine() % 200);
      for (unsigned char& b : bytes) b = static_cast<unsigned char>(engine());
      const std::vector<unsigned char> good = bytes_of(frame_of(1, 1.0));
      if (k % 2 == 0)
        std::copy_n(good.begin(), std::min<std::size_t>(bytes.size(), 8), bytes.begin());
      peer.send(bytes);
    }
    EXPECT_EQ(link.receive()[0], 0.5);
    EXPECT_EQ(link.receive()[1], 0.25);
  }
  EXPECT_EQ(link.counts().taken, 0U);
  EXPECT_EQ(link.counts().malformed, sent);
}

TEST(InputLink, SharedMemoryThatIsCutOffIsHeldAndComesBack) {
  const std::string name = "/saltus_cut_" + std::to_string(getpid());
  InputLink link({.udp_port = 0, .shared_memory = name, .wait = 0.0}, 1, 2, {0.5});
  const int file = shm_open(name.c_str(), O_RDWR, 0);
  ASSERT_GE(file, 0);
  struct stat status {};
  ASSERT_EQ(fstat(file, &status), 0);
  ASSERT_EQ(ftruncate(file, 0), 0);
  const double out[] = {3.0, 4.0};
  EXPECT_EQ(link.receive()[0], 0.5);
  link.send(1.0, 0, out);
  EXPECT_EQ(link.counts().malformed, 1U);
  ASSERT_EQ(ftruncate(file, status.st_size), 0);
  EXPECT_EQ(link.receive()[0], 0.5);
  link.send(1.0, 0, out);
  close(file);
}

TEST(InputLink, SharedMemoryIsReadOnlyWhenItsCounterIsEven) {
  const std::string name = "/saltus_test_" + std::to_string(getpid());
  {
    InputLink link({.udp_port = 0, .shared_memory = name, .wait = 0.0}, 1, 2, {0.5});
    const int file = shm_open(name.c_str(), O_RDWR, 0);
    ASSERT_GE(file, 0);
    auto* memory = static_cast<unsigned char*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    std::uint32_t head[5];
    ASSERT_EQ(std::memcmp(memory, "SLTM", 4), 0);
    std::memcpy(head, memory + 4, sizeof head);
    EXPECT_EQ(head[2], 1U);
    EXPECT_EQ(head[4], 2U);
    const std::vector<unsigned char> bytes = bytes_of(frame_of(1, 1.5));
    std::uint64_t counter = 1;
    std::memcpy(memory + head[1], &counter, 8);
    std::memcpy(memory + head[1] + 8, bytes.data(), bytes.size());
    EXPECT_EQ(link.receive()[0], 0.5);  // still being written
    counter = 2;
    std::memcpy(memory + head[1], &counter, 8);
    EXPECT_EQ(link.receive()[0], 1.5);
    EXPECT_EQ(link.receive()[0], 1.5);  // nothing new
    EXPECT_EQ(link.counts().taken, 1U);
    const double out[] = {3.0, 4.0};
    link.send(1.0, 0, out);
    Frame answer = frame_of(0, 0.0);
    answer.values.resize(2);
    ASSERT_TRUE(decode({memory + head[3] + 8, frame_size(2)}, Frame::kOutputs, answer));
    EXPECT_EQ(answer.values[1], 4.0);
    munmap(memory, 4096);
    close(file);
  }
  EXPECT_LT(shm_open(name.c_str(), O_RDWR, 0), 0);  // it is gone with the link
}

TEST(InputLink, WhatTheSystemRefusesIsTold) {
  const int port = free_port();
  const InputLink first({.udp_port = port, .shared_memory = {}, .wait = 0.0}, 1, 1, {0.0});
  EXPECT_THROW(InputLink({.udp_port = port, .shared_memory = {}, .wait = 0.0}, 1, 1, {0.0}), Error);
}

TEST(RealtimeInputs, AModelWithoutInputsCannotBeLinked) {
  const HybridSystem system =
      from_text("model M Real x(start=0, fixed=true); equation der(x)=1; end M;");
  RealtimeRunOptions options;
  options.engine = {.step = 0.1, .stop_time = 1.0};
  options.link.udp_port = free_port();
  EXPECT_THROW(run_realtime(system, options), Error);
}

}  // namespace
}  // namespace saltus
