#!/bin/sh
# Closes the loop: saltus realtime and the stand-ins for a control unit, each a program of its own.
# Usage: realtime_loop_test.sh SALTUS EXAMPLE_FOLDER C_COMPILER LIBRARY
set -eu
saltus=$1 example=$2 compiler=$3 library=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$compiler" -std=c99 -Wall -Wextra -pedantic -Werror -O1 -o "$folder/ecu" "$example/ecu.c" -lrt
port=$((20000 + $$ % 12000))  # below those that the system gives away

# run NAME LINK... -- ECU...: both to the end; the result in NAME.json.
run() {
  name=$1 link=$2 value=$3
  shift 3
  "$saltus" realtime Saltus.FourSpeed.HardwareInTheLoop --library "$library" --step 0.01 --wait 5 \
    "$link" "$value" --store gearbox.ring.w --store gearbox.turbine.w --store car.v \
    --rehearse "$example/shifts.csv" --json "$folder/$name.json" --quiet &
  simulator=$!
  "$@" > "$folder/$name.txt"
  wait $simulator
  for gear in 2 3 4; do
    grep -q "gear $gear" "$folder/$name.txt" || { echo "$name: no gear $gear"; exit 1; }
  done
}

run udp_c --udp "$port" "$folder/ecu" udp "$port"
run shm_c --shm "saltus_loop_$$" "$folder/ecu" shm "saltus_loop_$$"
run udp_python --udp "$port" python3 "$example/ecu.py" "$port"

python3 - "$folder" <<'PYTHON'
import json, sys
runs = {n: json.load(open(f"{sys.argv[1]}/{n}.json")) for n in ("udp_c", "shm_c", "udp_python")}
for name, run in runs.items():
    counts = run["inputs"]
    assert counts["frames_malformed"] == counts["steps_refused"] == 0, (name, counts)
    assert counts["frames_taken"] > 1900, (name, counts)
    ratio = run["final"]["gearbox.turbine.w"] / run["final"]["gearbox.ring.w"]
    assert abs(ratio - 1) < 1e-6, (name, ratio)  # the fourth gear
    assert run["final"]["car.v"] > 20, (name, run["final"]["car.v"])
# The same controller: the same drive, whatever the link.
speeds = [run["final"]["car.v"] for run in runs.values()]
assert max(speeds) - min(speeds) < 0.05 * max(speeds), speeds
PYTHON
