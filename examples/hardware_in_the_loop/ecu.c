/* A stand-in for the control unit of an automatic gearbox: ecu udp PORT | ecu shm NAME.
   It answers each frame of outputs with a frame of inputs, until none comes for a second. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kInputs = 7, kMost = 4096 };

/* ---- The frame (docs/guide/realtime.md), on a little-endian machine ---- */

static uint32_t crc32(const unsigned char* bytes, size_t count) {
  uint32_t crc = 0xffffffffu;
  size_t i;
  int k;
  for (i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (k = 0; k < 8; ++k) crc = (crc >> 1) ^ ((crc & 1u) ? 0xedb88320u : 0u);
  }
  return ~crc;
}

static size_t encode(uint64_t sequence, double time, const double* values, uint32_t count,
                     unsigned char* bytes) {
  const uint16_t version = 1, kind = 0;
  const uint32_t status = 0;
  const size_t size = 32 + 8 * (size_t)count;
  uint32_t crc;
  memcpy(bytes, "SLTF", 4);
  memcpy(bytes + 4, &version, 2);
  memcpy(bytes + 6, &kind, 2);
  memcpy(bytes + 8, &sequence, 8);
  memcpy(bytes + 16, &time, 8);
  memcpy(bytes + 24, &status, 4);
  memcpy(bytes + 28, &count, 4);
  memcpy(bytes + 32, values, 8 * (size_t)count);
  crc = crc32(bytes, size);
  memcpy(bytes + size, &crc, 4);
  return size + 4;
}

/* Outputs: time and the first value, the speed of the output shaft. 0: no such frame. */
static int decode(const unsigned char* bytes, size_t size, double* time, double* speed) {
  uint16_t kind;
  uint32_t count, crc;
  if (size < 44 || memcmp(bytes, "SLTF", 4) != 0) return 0;
  memcpy(&kind, bytes + 6, 2);
  memcpy(&count, bytes + 28, 4);
  if (kind != 1 || size != 36 + 8 * (size_t)count) return 0;
  memcpy(&crc, bytes + size - 4, 4);
  if (crc != crc32(bytes, size - 4)) return 0;
  memcpy(time, bytes + 16, 8);
  memcpy(speed, bytes + 32, 8);
  return 1;
}

/* ---- The controller: upshifts at fixed speeds of the output shaft, ramps of 0.3 s ---- */

static const double kPattern[4][6] = {
    {1, 0, 0, 0, 0, 0}, {1, 0, 0, 1, 0, 0}, {1, 0, 1, 0, 0, 1}, {1, 1, 1, 0, 0, 0}};
static const double kUpshift[3] = {90.0, 170.0, 230.0}; /* rad/s */

static void control(double time, double speed, double* inputs) {
  static int gear = 0;
  static double begun = -1.0;
  int k;
  if (gear < 3 && speed > kUpshift[gear] && time > begun + 1.0) {
    ++gear;
    begun = time;
    printf("t = %.3f s: gear %d\n", time, gear + 1);
  }
  inputs[0] = 1.0;
  for (k = 0; k < 6; ++k) {
    const double to = kPattern[gear][k];
    const double from = gear > 0 ? kPattern[gear - 1][k] : to;
    const double duration = to > from ? 0.3 : 0.1;
    const double done = (time - begun) / duration;
    inputs[1 + k] = done >= 1.0 || gear == 0 ? to : from + (to - from) * done;
  }
}

/* ---- The two links ---- */

static int run_udp(int port) {
  unsigned char bytes[kMost];
  double inputs[kInputs], time = 0.0, speed = 0.0;
  uint64_t sequence = 0;
  int silent = 0;
  struct timeval patience = {0, 100000};
  struct sockaddr_in simulator;
  const int s = socket(AF_INET, SOCK_DGRAM, 0);
  if (s < 0) return 1;
  memset(&simulator, 0, sizeof simulator);
  simulator.sin_family = AF_INET;
  simulator.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  simulator.sin_port = htons((uint16_t)port);
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  while (silent < 10 || (sequence < 100 && silent < 100)) {
    ssize_t size;
    control(time, speed, inputs);
    ++sequence;
    (void)sendto(s, bytes, encode(sequence, time, inputs, kInputs, bytes), 0,
                 (const struct sockaddr*)&simulator, sizeof simulator);
    size = recv(s, bytes, sizeof bytes, 0);
    silent = size > 0 && decode(bytes, (size_t)size, &time, &speed) ? 0 : silent + 1;
  }
  close(s);
  return 0;
}

static int run_shm(const char* name) {
  unsigned char bytes[kMost];
  double inputs[kInputs], time = 0.0, speed = 0.0;
  uint64_t sequence = 0, seen = 0, count = 0;
  uint32_t head[5];
  struct stat about;
  unsigned char* memory;
  volatile uint64_t *in, *out;
  int silent = 0, file = -1, k;
  const struct timespec nap = {0, 50000};
  char path[256];
  snprintf(path, sizeof path, "/%s", name);
  for (k = 0; k < 100000 && file < 0; ++k) { /* until the simulator has made it */
    file = shm_open(path, O_RDWR, 0);
    if (file < 0) nanosleep(&nap, NULL);
  }
  if (file < 0) return 1;
  do { /* and given it its size */
    if (fstat(file, &about) != 0) return 1;
    if (about.st_size == 0) nanosleep(&nap, NULL);
  } while (about.st_size == 0 && ++k < 100000);
  memory = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 1;
  while (memcmp(memory, "SLTM", 4) != 0) nanosleep(&nap, NULL);
  memcpy(head, memory + 4, sizeof head);
  if (head[0] != 1 || head[2] != kInputs || head[4] < 1) return 1;
  in = (volatile uint64_t*)(void*)(memory + head[1]);
  out = (volatile uint64_t*)(void*)(memory + head[3]);
  while (silent < 20000) {
    const size_t size = 36 + 8 * (size_t)head[4];
    uint64_t before;
    control(time, speed, inputs);
    ++sequence;
    *in = ++count; /* odd: being written */
    __sync_synchronize();
    (void)encode(sequence, time, inputs, kInputs, memory + head[1] + 8);
    __sync_synchronize();
    *in = ++count;
    for (silent = 0; silent < 20000; ++silent) { /* for new outputs */
      before = *out;
      if (before != seen && before % 2 == 0) {
        __sync_synchronize();
        memcpy(bytes, memory + head[3] + 8, size);
        __sync_synchronize();
        if (*out == before && decode(bytes, size, &time, &speed)) {
          seen = before;
          break;
        }
      }
      nanosleep(&nap, NULL);
    }
  }
  munmap(memory, (size_t)about.st_size);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "udp") == 0) return run_udp(atoi(argv[2]));
  if (argc == 3 && strcmp(argv[1], "shm") == 0) return run_shm(argv[2]);
  fprintf(stderr, "usage: ecu udp PORT | ecu shm NAME\n");
  return 2;
}
