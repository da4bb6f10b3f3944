"""A stand-in for the control unit of an automatic gearbox: python3 ecu.py PORT.

It answers each frame of outputs with a frame of inputs, until none comes for a second.
"""

import socket
import struct
import sys
import zlib

PATTERN = [[1, 0, 0, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 1, 0, 0, 1], [1, 1, 1, 0, 0, 0]]
UPSHIFT = [90.0, 170.0, 230.0]  # rad/s of the output shaft
HEAD = struct.Struct("<4sHHQdII")


def encode(sequence, time, values):
    body = HEAD.pack(b"SLTF", 1, 0, sequence, time, 0, len(values))
    body += struct.pack(f"<{len(values)}d", *values)
    return body + struct.pack("<I", zlib.crc32(body))


def decode(data):
    """Time and values of a frame of outputs, or None."""
    if len(data) < HEAD.size + 4:
        return None
    magic, version, kind, _, time, _, count = HEAD.unpack_from(data)
    if (magic, version, kind) != (b"SLTF", 1, 1) or len(data) != HEAD.size + 8 * count + 4:
        return None
    if struct.unpack_from("<I", data, len(data) - 4)[0] != zlib.crc32(data[:-4]):
        return None
    return time, struct.unpack_from(f"<{count}d", data, HEAD.size)


class Controller:
    """Upshifts at fixed speeds of the output shaft, pressures by ramps."""

    def __init__(self):
        self.gear = 0
        self.begun = -1.0

    def inputs(self, time, speed):
        if self.gear < 3 and speed > UPSHIFT[self.gear] and time > self.begun + 1.0:
            self.gear += 1
            self.begun = time
            print(f"t = {time:.3f} s: gear {self.gear + 1}", flush=True)
        pressures = []
        for k in range(6):
            to = PATTERN[self.gear][k]
            start = PATTERN[max(self.gear - 1, 0)][k]
            done = (time - self.begun) / (0.3 if to > start else 0.1)
            pressures.append(to if done >= 1.0 or self.gear == 0 else start + (to - start) * done)
        return [1.0] + pressures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    simulator = ("127.0.0.1", int(sys.argv[1]))
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.settimeout(0.1)
    controller = Controller()
    time, speed, sequence, silent = 0.0, 0.0, 0, 0
    while silent < 10 or (sequence < 100 and silent < 100):
        sequence += 1
        link.sendto(encode(sequence, time, controller.inputs(time, speed)), simulator)
        try:
            frame = decode(link.recv(4096))
        except OSError:
            frame = None
        silent = 0 if frame else silent + 1
        if frame:
            time, speed = frame[0], frame[1][0]


if __name__ == "__main__":
    main()
