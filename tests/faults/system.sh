#!/bin/bash
# What the system does to a run: closed and full outputs, pipes, other runs into the same folder, an
# end from outside. Nothing is mixed, nothing is lost. Usage: system.sh path/to/saltus [KILLS]
set -u
saltus=$(realpath "$1")
kills=${2:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
status_is() { [ "$1" -eq "$2" ] || fail "exit $1, not $2: $3"; }

cat >decay.mo <<'M'
model Decay
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
end Decay;
M
cat >long.mo <<'M'
model Long
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x;
end Long;
M

# Closed and full standard outputs
"$saltus" simulate decay.mo --output a 2>&- >out; status_is $? 0 "closed standard error"
"$saltus" simulate decay.mo --output a 2>/dev/full >out; status_is $? 0 "full standard error"
"$saltus" simulate nothing 2>&-; status_is $? 2 "an error into a closed standard error"
"$saltus" simulate nothing 2>/dev/full; status_is $? 2 "an error into a full standard error"
"$saltus" simulate decay.mo --output a >/dev/full 2>err; status_is $? 1 "full standard output"
grep -q "cannot write to standard output" err || fail "a full standard output is not named"
"$saltus" simulate decay.mo --output a >&- 2>err; status_is $? 1 "closed standard output"
"$saltus" simulate decay.mo --output a --quiet >&- 2>&- <&-; status_is $? 0 "everything closed"
[ "$(head -n 1 a/Decay.csv)" = "time,x,der(x)" ] || fail "a closed output has got into the results"
"$saltus" analyze nag 2>err | head -n 1 >out; status_is "${PIPESTATUS[0]}" 0 "a reader that leaves"
[ -s err ] && fail "a reader that leaves is an error: $(cat err)"

# Pipes and devices are no models
mkfifo pipe.mo
timeout 20 "$saltus" simulate pipe.mo 2>err; status_is $? 2 "a pipe as model"
grep -q "pipe or a device" err || fail "a pipe as model is not named"
ln -s /dev/zero zero.mo
timeout 20 "$saltus" simulate zero.mo 2>err; status_is $? 2 "a device as model"

# The time limit holds before the first step, too: a chain of conditions that takes minutes
{
  printf 'model Chain\n  Real x(start = 1, fixed = true);\nequation\n  if x > 1e6 then\n    der(x) = 1;\n'
  for k in {1..6000}; do printf '  elseif x > %d then\n    der(x) = %d;\n' $((k + 1)) $k; done
  printf '  else\n    der(x) = 0;\n  end if;\nend Chain;\n'
} >chain.mo
timeout 60 "$saltus" simulate chain.mo --max-seconds 1 >out 2>err; status_is $? 1 "a time limit at the start"
grep -q "the time limit is reached" err || fail "a time limit at the start is not named: $(cat err)"

# A folder that cannot be written to (root may write anywhere)
mkdir locked; chmod 555 locked
if [ "$(id -u)" -ne 0 ]; then
  "$saltus" simulate decay.mo --output locked 2>err; status_is $? 2 "a read-only folder"
fi

# A full disk, where the system lets us have one
mkdir small
if mount -t tmpfs -o size=256k none small 2>/dev/null; then
  "$saltus" simulate long.mo --output small --format csv,mat --stop-time 1e4 --interval 0.01 \
    >out 2>err
  status_is $? 1 "a full disk"
  grep -q "No space left" err || fail "a full disk is not named: $(cat err)"
  # Nearly all of it holds whole points.
  [ "$(stat -c %s small/Long.partial.csv)" -gt 200000 ] || fail "a full disk has cost the points"
  awk -F, 'NF != 5 { exit 1 }' small/Long.partial.csv || fail "half a row is left on a full disk"
  umount small
fi
(
  ulimit -f 100  # of 1024 bytes: a limit on files is told as a full disk is
  "$saltus" simulate long.mo --output limited --stop-time 1e4 --interval 0.01 >out 2>err
)
status_is $? 1 "a limit on the size of files"
grep -q "File too large" err || fail "a limit on the size of files is not named: $(cat err)"
awk -F, 'NF != 5 { exit 1 }' limited/Long.partial.csv || fail "half a row is left at a limit"
[ "$(stat -c %s limited/Long.partial.csv)" -gt 90000 ] || fail "a limit has cost the points"

# Files that a model writes go below the folder of the results, and only there
cat >writes.mo <<'M'
model Writes
  function print
    input String text;
    input String file;
    external "C" ModelicaInternal_print(text, file);
  end print;
  parameter String name = "log.txt";
  Real x = time;
equation
  when sample(0, 0.5) then
    print("now " + String(time), name);
  end when;
end Writes;
M
"$saltus" simulate writes.mo --output written >out 2>err; status_is $? 0 "a model that writes"
[ "$(cat written/files/log.txt)" = "$(printf 'now 0\nnow 0.5\nnow 1')" ] ||
  fail "a model has written: $(cat written/files/log.txt)"
"$saltus" simulate writes.mo >out 2>err; status_is $? 2 "a model that writes, without --output"
grep -q "needs --output" err || fail "what is missing is not said: $(cat err)"
for name in ../log.txt "$scratch/log.txt" a/../../log.txt link/log.txt . link.txt; do
  mkdir -p written/files elsewhere
  ln -sfn "$scratch/elsewhere" written/files/link
  ln -sfn "$scratch/elsewhere/log.txt" written/files/link.txt
  "$saltus" simulate writes.mo --output written --set "name=\"$name\"" >out 2>err
  status_is $? 2 "a model that writes to '$name'"
done
rm written/files/link written/files/link.txt
[ -z "$(ls elsewhere)" ] && [ ! -e written/log.txt ] && [ ! -e log.txt ] ||
  fail "a model has written outside of its folder"

# A link that somebody planted is not followed
mkdir planted
echo precious >precious
ln -s "$scratch/precious" planted/Decay.partial.csv
ln -s "$scratch/precious" planted/Decay.csv
"$saltus" simulate decay.mo --output planted >out 2>err; status_is $? 0 "planted links"
[ "$(cat precious)" = precious ] || fail "a planted link was followed"
[ -f planted/Decay.csv ] && [ ! -L planted/Decay.csv ] || fail "no result beside planted links"

# Results of another model are kept, those of the same are replaced
"$saltus" simulate decay.mo --output b >out 2>err; cp b/Decay.csv first.csv
sed 's/Real x/Real y = 2*x; Real x/' decay.mo >other.mo
"$saltus" simulate other.mo --output b >out 2>err
grep -q "held other variables" err || fail "results of another model are replaced silently"
cmp -s first.csv b/Decay.previous.csv || fail "results of another model are lost"
"$saltus" simulate other.mo --output b >out 2>err; [ -s err ] && fail "said twice: $(cat err)"

# Pairs of runs into one folder
for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  rm -rf pair
  "$saltus" simulate decay.mo --output pair --stop-time 1 --interval 1e-3 >out1 2>&1 &
  one=$!
  "$saltus" simulate decay.mo --output pair --stop-time 2 --interval 1e-3 >out2 2>&1
  status_is $? 0 "second of pair $k"
  wait $one; status_is $? 0 "first of pair $k"
  files=(pair/*.csv)
  ends=""
  for file in "${files[@]}"; do ends+=" $(tail -n 1 "$file" | cut -d, -f1)/$(wc -l <"$file")"; done
  case "$ends" in
    *" 1/"*) ;;
    *) [ ${#files[@]} -eq 1 ] || fail "pair $k: $ends" ;;
  esac
  # Runs that overlapped leave two files; one that came later replaces the first.
  for end in $ends; do
    [ "$end" = 1/1002 ] || [ "$end" = 2/2002 ] || fail "pair $k: rows are mixed: $ends"
  done
done

# An end from outside: what was computed up to a second before is in the files. Seconds are those of
# the processor, which the run has to itself: a busy machine gives it fewer.
seconds_of() { awk '{ print ($14 + $15) / 100 }' "/proc/$1/stat"; }
# ran RUN SECONDS: waits until the run has had that many
ran() { until awk "BEGIN { exit !($(seconds_of "$1") >= $2) }"; do sleep 0.05; done; }
for ((k = 0; k < kills; ++k)); do
  rm -rf killed
  "$saltus" simulate long.mo --stop-time 1e9 --interval 100 --format csv,mat --output killed \
    >/dev/null 2>&1 &
  run=$!
  ran $run 0.$((RANDOM % 10))$((RANDOM % 10))
  before=$(tail -n 1 killed/Long.partial.csv 2>/dev/null | cut -d, -f1 | sed s/time/0/)
  ran $run "$(awk "BEGIN { print $(seconds_of $run) + 1 }")"
  kill -9 $run
  wait $run 2>/dev/null
  after=$(tail -n 1 killed/Long.partial.csv | cut -d, -f1)
  awk -F, 'NF != 5 { exit 1 }' killed/Long.partial.csv || fail "kill $k: a row is not whole"
  awk "BEGIN { exit !($after + 0 > ${before:-0} + 0) }" || fail "kill $k: nothing in the last second"
  python3 - killed/Long.partial.mat "${before:-0}" <<'PYTHON' || fail "kill $k: the MATLAB file is not readable"
import os, struct, sys
# MATLAB v4: matrices one after the other; the last one is data_2, a column for each point.
path, before = sys.argv[1], float(sys.argv[2])
with open(path, "rb") as file:
    while header := file.read(20):
        kind, rows, columns, imaginary, length = struct.unpack("<5i", header)
        name = file.read(length).rstrip(b"\0").decode()
        size = {0: 8, 1: 4, 2: 4, 5: 1}[kind // 10 % 10]
        data = file.read(rows * columns * size)
        assert len(data) == rows * columns * size, name
        if name == "data_2": break
assert name == "data_2" and columns > 0
time = struct.unpack_from("<d", data, (columns - 1) * rows * size)[0]
assert time > before, (time, before)
PYTHON
  [ -e killed/Long.csv ] && fail "kill $k: the file looks whole"
done
if [ "$kills" -gt 0 ]; then
  last=$(md5sum <killed/Long.partial.csv)
  "$saltus" simulate long.mo --output killed >out 2>err; status_is $? 0 "a run after a killed one"
  grep -q "left alone" err || fail "the files of a killed run are not mentioned"
  [ "$last" = "$(md5sum <killed/Long.partial.csv)" ] || fail "the files of a killed run are lost"
fi
echo "$failures failures"
[ $failures -eq 0 ]
