#!/bin/bash
# The program as a user meets it: exit status, files, messages. Usage: cli_test.sh path/to/saltus
set -u
saltus=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# run STATUS ARGUMENTS...: standard output in out, standard error in err
run() {
  local wanted=$1
  shift
  "$saltus" "$@" >out 2>err
  local status=$?
  [ $status -eq "$wanted" ] || { fail "exit $status, not $wanted: saltus $*"; cat err; }
}
# has FILE TEXT
has() { grep -qF -- "$2" "$1" || { fail "$1 lacks '$2' (saltus said: $(head -c 300 "$1"))"; }; }
empty() { [ ! -s "$1" ] || fail "$1 is not empty: $(head -c 300 "$1")"; }
exists() { [ -s "$1" ] || fail "no file $1"; }
absent() { [ ! -e "$1" ] || fail "there is a file $1"; }

# Help, version, list
run 0 --version; has out "saltus 0."
run 0 --help; has out "Exit status"; has out "saltus simulate ball"
run 0 simulate --help; has out "--tolerance"; has out "default"; has out "Exit status"
run 0 examples; for name in ball tanks robertson rectifier pendulum slider_crank four_bar arm nag nag_coast rlc km16 km17 evaporator stick_slip relays billiard; do has out "$name"; done
has out "Saltus.Examples.Ball "; has out "the velocity jumps at every impact"; has out "Saltus.Drivetrain.Examples.Engagement "
run 2; has err "error:"

# Fixed steps
run 0 realtime Saltus.Drivetrain.Examples.Engagement --step 0.01 --compare; has out "2 prepared, 2 affine"; has out "offline"
exists results/Saltus.Drivetrain.Examples.Engagement.csv; rm -r results
run 0 realtime Saltus.Drivetrain.Examples.Engagement --step 0.01 --stop-time 0.2 --pace --json - --store left.w; has out '"late_max"'; has out '"left.w"'
run 0 realtime Saltus.Examples.StickSlip --step 0.01; has out "2 prepared"
run 2 realtime ball --step 0.01; has err "Modelica"
run 2 realtime Saltus.Drivetrain.Examples.Engagement --step 0.01 --store nothing; has err "nothing"

# Fixed-step methods for springs
run 0 springs --steps 0.1 --plot s.svg --csv s.csv; has out "switching-exact"; exists s.svg; has s.csv "0.1,euler,"
run 0 springs --case friction --steps 0.1; has out "knows no friction"
run 2 springs --steps 0; has err "positive"
run 2 springs --case nothing; has err "nothing"

# Masses that collide, and steps of changed length
run 0 collisions --case 7 --plot c.svg --csv c.csv; has out "exact"; exists c.svg; has c.csv "delta,"
run 0 collisions --case 4 --stop-time 2; has out "refused: contact as a constraint"
run 2 collisions --case 1 --restitution 2; has err "between 0 and 1"
run 2 collisions --case 1 --step 0; has err "positive"
run 0 delta --steps 0.1 --plot d.svg; has out "order"; exists d.svg
run 2 delta --steps 0; has err "positive"

# A plain run says where the points are, and shows no progress in a pipe
run 0 simulate ball --stop-time 2.5; has out "completed"; has out "results/ball.csv"; has out "events"; empty err
exists results/ball.csv
[ "$(head -1 results/ball.csv | cut -d, -f1-2)" = "time,h" ] || fail "header of ball.csv"
# 500 intervals, the start, and two sides of 11 impacts
[ "$(wc -l <results/ball.csv)" -eq 524 ] || fail "$(wc -l <results/ball.csv) lines in ball.csv"
rm -r results
run 0 simulate ball --quiet --output deep/er --format csv,mat --report deep/page.html --json sum.json
empty out; empty err
for file in deep/er/ball.csv deep/er/ball.mat deep/page.html sum.json; do exists "$file"; done
absent results
run 0 simulate ball --stop-time 2.5 --json -; absent results; empty err
[ "$(head -c 1 out)" = "{" ] && [ "$(tail -n 1 out)" = "}" ] || fail "--json - prints more than JSON"
for field in saltus model method formulation tolerance status message time final events modes \
  sensitivities statistics wall_seconds; do has out "\"$field\""; done
has out '"status": "completed"'
has out '"kind": "jump"'
if command -v jq >/dev/null; then
  [ "$(jq '.events | length' out)" = 11 ] || fail "number of events in JSON"
  [ "$(jq .time out)" = 2.5 ] || fail "time in JSON"
fi

# Ties
run 2 simulate ball --disjoint nonsense; has err "write MODE:FIRST,SECOND:TO"
run 2 simulate ball --disjoint flying:impact,none:flying; has err "no guard 'none'"
run 2 simulate ball --disjoint fling:impact,impact:flying; has err "did you mean 'flying'"

# Options reach the run. Before the first impact v = -g t.
run 0 simulate ball --stop-time 0.25 --set g=8 --json -; has out '"events": []'
grep -qE '"v": -(2\.0+|2\.0000000[0-9]*|1\.9999999[0-9]*),?$' out || fail "--set g=8 has no effect"
run 0 simulate ball --stop-time 2.5 --method bdf --tolerance 1e-4 --json -
has out '"method": "bdf"'; has out '"tolerance": 0.0001'
run 0 simulate ball --stop-time 0.4 --interval 0.1 --output few
[ "$(wc -l <few/ball.csv)" -eq 6 ] || fail "--interval"
run 0 simulate ball --start-time 1 --stop-time 1.2 --output late; has late/ball.csv "1.2,"

# Packages that come with the program are found without --library, beside it and where it is
# installed
run 0 simulate Saltus.Drivetrain.Examples.Gear --json -; has out '"model": "Saltus.Drivetrain.Examples.Gear"'
mkdir -p prefix/bin prefix/share/saltus
cp "$saltus" prefix/bin/saltus
(unset MODELICAPATH; prefix/bin/saltus check Saltus.Drivetrain.Examples.Gear >out 2>err) && fail "found a package that is not there"
has err "Saltus"
cp -rL "$(dirname "$saltus")/library" prefix/share/saltus/library
(unset MODELICAPATH; prefix/bin/saltus check Saltus.Drivetrain.Examples.Gear >out 2>err) || fail "installed packages are not found"
rm -r prefix

# Analysis: table, hidden constraints, JSON with exactly the promised fields
run 0 analyze --help; has out "strangeness index"; has out "--max-modes"
run 0 analyze pendulum; empty err; has out "2*x*vx + 2*y*vy = 0"; has out "string (2x)"
has out "string breaks: S_max - 2*l*lambda > 0, then flying"
grep -qE '^swinging +5 +5 +2 +2 +3 +0 +0 ' out || fail "values of the pendulum"
grep -qE '^flying +4 +4 +0 +4 +0 +0 +0 ' out || fail "values of the flight"
run 0 analyze tanks --max-modes 2; has out "2 more modes"
run 0 analyze pendulum --json -; empty err
[ "$(head -c 1 out)" = "{" ] || fail "analyze --json - prints more than JSON"
if command -v jq >/dev/null; then
  [ "$(jq -c 'keys_unsorted' out)" = '["model","modes"]' ] || fail "fields of analyze --json"
  [ "$(jq -c '.modes[0] | keys_unsorted' out)" = '["name","conditions","unknowns","equations","mu","d","a","v","u","hidden","differentiated","redundant","free","guards"]' ] ||
    fail "fields of a mode in analyze --json"
  [ "$(jq -c '.modes[0] | [.mu,.d,.a,.v,.u]' out)" = '[2,2,3,0,0]' ] || fail "values in JSON"
  [ "$(jq '.modes[0].differentiated.string' out)" = 2 ] || fail "differentiated in JSON"
fi
run 0 analyze ball --json made/ball.json; exists made/ball.json; has out "flying"
run 2 analyze bal; has err "did you mean 'ball'"
run 2 analyze ball --set gg=1; has err "gg"
run 2 analyze ball --max-modes 0; has err "max-modes"
run 1 analyze ball --json /dev/full; has err "/dev/full"

# Comparison: table, CSV with one line a run, plot
run 0 compare --help; has out "overdetermined"; has out "Exit status"
run 0 compare pendulum --methods radau,bdf --formulations reduced,position,minimal --tolerances 1e-4 \
  --stop-time 1 --csv made/table.csv --plot made/table.svg
has out "acceleration"; has out "not-possible"; has out "bdf integrates square systems"
[ "$(wc -l <made/table.csv)" -eq 7 ] || fail "$(wc -l <made/table.csv) lines in table.csv"
has made/table.csv "radau,position,0.0001,right"; has made/table.svg "</svg>"
run 0 compare pendulum --methods half-explicit,derivative-array --tolerances 1e-3 --stop-time 1
has out "half-explicit     velocity"; has out "derivative-array  array"
run 2 compare pendulum --formulations ggl,eom; has err "eom"
run 0 simulate four_bar --method half-explicit --json -; has out '"method": "half-explicit"'
run 2 simulate four_bar --method half-explicit --formulation ggl; has err "velocity"
run 2 compare pendulum --tolerances 1e-3,2; has err "tolerance"
run 1 compare ball --tolerances 1e-3 --formulations reduced --csv /dev/full; has err "/dev/full"
run 0 simulate slider_crank --formulation ggl --json -; has out '"formulation": "ggl"'
run 2 simulate slider_crank --formulation eom; has err "eom"
run 2 simulate slider_crank --formulation position --method bdf; has err "radau"

# Wrong input: status 2, nothing written, a way out in the message
run 2 simulate bal; has err "did you mean 'ball'"; has err "rectifier"
run 2 simulate thing.mo; has err "cannot read 'thing.mo'"
run 2 simulate thing.mo:Class; has err "cannot read 'thing.mo'"
run 2 simulate ball --set gg=1; has err "gg"; has err "did you mean 'g'"
run 2 simulate ball --set g=abc; has err "'abc' is not a number"
run 2 simulate ball --set g=1x; has err "not a number"
run 2 simulate ball --set g; has err "NAME=VALUE"
run 2 simulate ball --set g=inf; has err "not finite"
for value in 0 -1e-6 nan 2; do run 2 simulate ball --tolerance=$value; has err "tolerance"; done
run 2 simulate ball --absolute-tolerance 0; has err "absolute tolerance"
run 2 simulate ball --stop-time -1; has err "stop time"
run 2 simulate ball --interval -1; has err "interval"
run 2 simulate ball --tolerance abc; has err "tolerance"
run 2 simulate ball --method rk4; has err "radau"
run 2 simulate ball --format xls; has err "csv"
run 2 simulate ball --tolerence 1e-6; has err "did you mean '--tolerance'"
run 2 simulat ball; has err "did you mean 'simulate'"
run 2 simulate; has err "MODEL"
absent results

# Places that cannot be written are found before the run
echo text >plain
run 2 simulate ball --output plain; has err "--output"; has err "plain"
run 2 simulate ball --output /proc/saltus; has err "/proc/saltus"
run 2 simulate ball --report plain/page.html; has err "--report plain/page.html"
run 2 simulate ball --json plain/sum.json; has err "--json plain/sum.json"
mkdir folder
run 2 simulate ball --json folder; has err "is a directory"
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked && chmod a-w locked
  run 2 simulate ball --output locked; has err "locked"
fi
# What was put in is not replaced by what comes out, nor one result by another
cat >kept.mo <<'M'
model Kept
  parameter Real k = 1;
  Real x(start = 1, fixed = true);
equation
  der(x) = -k*x;
end Kept;
M
cp kept.mo kept.copy
run 2 simulate kept.mo --json kept.mo; has err "name of a model"
run 2 simulate kept.mo --report kept.mo; has err "name of a model"
run 2 analyze kept.mo --json kept.mo; has err "name of a model"
run 1 compare kept.mo --csv kept.mo --tolerances 1e-3; has err "name of a model"
cmp -s kept.mo kept.copy || fail "a model was replaced"
run 2 simulate kept.mo --report one --json ./one; has err "same file"; absent one
run 2 simulate kept.mo --report -; has err "name of a file"
run 1 simulate kept.mo --output own --json own/Kept.csv; has err "points of this run"; has own/Kept.csv "time,x"
run 0 simulate kept.mo --output own --format csv,csv; empty err
printf 't,x\n0,1\n1,0.3\n' >data.csv; cp data.csv data.copy
run 2 fit kept.mo --data data.csv --free k --output ./data.csv; has err "the data"
cmp -s data.csv data.copy || fail "data were replaced"
run 2 simulate ball --max-seconds 0; has err "positive number"
# ... and a disk that fills up meanwhile is reported, other files are kept
run 1 simulate ball --json /dev/full --output kept; has err "/dev/full"; exists kept/ball.csv
"$saltus" simulate ball --json - >/dev/full 2>err; [ $? -eq 1 ] || fail "exit with full standard output"
has err "standard output"
# A reader that leaves is no crash
"$saltus" examples 2>err | true; [ "${PIPESTATUS[0]}" -eq 0 ] || fail "closed pipe: ${PIPESTATUS[0]}"
"$saltus" simulate ball --json - --interval 0 2>err | true
[ "${PIPESTATUS[0]}" -le 1 ] || fail "closed pipe, JSON"

# Ctrl-C and SIGTERM: status 1, the points so far are on disk. The shell starts background jobs
# with SIGINT ignored, so that default is restored through env. A busy machine may take its time.
# await COMMAND...: until it succeeds, for a minute at most
await() {
  for _ in $(seq 1200); do
    "$@" && return
    sleep 0.05
  done
  fail "never came true: $*"
}
long=(simulate tanks --stop-time 1e8 --interval 1e4)
for signal in INT TERM; do
  rm -rf stopped
  env --default-signal=INT "$saltus" "${long[@]}" --output stopped --json stopped.json >out 2>err &
  pid=$!
  await test -s stopped/tanks.partial.csv
  kill -s $signal $pid
  wait $pid
  status=$?
  [ $status -eq 1 ] || fail "exit $status after SIG$signal"
  has err "interrupted at t ="; has err "in mode"; has out "stopped/tanks.csv"
  exists stopped/tanks.csv
  has stopped.json '"status": "interrupted"'
  if grep -q $'\r' err; then fail "progress line in a pipe"; fi
done

# On a terminal a long run shows a line and erases it. Where there are no terminals nobody sees it.
if command -v script >/dev/null && script -qec true typescript </dev/null >/dev/null 2>&1; then
  # on_terminal ARGUMENTS...: what the terminal shows in the file terminal, the process in pid
  on_terminal() {
    rm -f pid
    : >terminal
    script -qec "echo \$\$ >pid; exec env --default-signal=INT '$saltus' $*" typescript </dev/null >terminal 2>&1 &
    await test -s pid
  }
  on_terminal "${long[@]}" --output shown
  await grep -qF "Ctrl-C stops and keeps the results" terminal
  kill -s INT "$(cat pid)"
  wait
  has terminal $'\r\x1b[K'
  # The line comes after a second: with --quiet two of them pass without it.
  on_terminal "${long[@]}" --output quiet --quiet
  await test -s quiet/tanks.partial.csv
  sleep 2
  kill -s INT "$(cat pid)"
  wait
  has terminal "interrupted"
  if grep -qF "Ctrl-C" terminal; then fail "--quiet shows progress"; fi
else
  echo "no terminals here: the progress line is not tested"
fi

[ $failures -eq 0 ] && echo "all as expected" || exit 1
