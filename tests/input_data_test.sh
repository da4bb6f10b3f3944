#!/bin/bash
# Inputs from files as a user gives them: CSV and MAT, joined in three ways, against exact
# integrals; and what is wrong with data. Usage: input_data_test.sh path/to/saltus
set -u
saltus=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
run() {
  local wanted=$1
  shift
  "$saltus" "$@" >out 2>err
  local status=$?
  [ $status -eq "$wanted" ] || { fail "exit $status, not $wanted: saltus $*"; cat err; }
}
has() { grep -qF -- "$2" "$1" || fail "$1 lacks '$2': $(head -c 400 "$1")"; }
final() { sed -n "/\"final\"/,/}/s/^ *\"$1\": \([-0-9.e+]*\),*$/\1/p" out | head -1; }
near() {  # NAME WANTED [TOLERANCE]
  local value
  value=$(final "$1")
  awk -v a="$value" -v b="$2" -v e="${3:-1e-8}" 'BEGIN {exit !(a != "" && (a-b)*(a-b) <= e*e)}' ||
    fail "$1 = $value, not $2"
}

cat >fed.mo <<'END'
model Fed
  input Real u;
  input Boolean on;
  input Integer gear;
  Real x(start = 0, fixed = true), y(start = 0, fixed = true), z(start = 0, fixed = true);
equation
  der(x) = u;
  der(y) = if on then 1 else 0;
  der(z) = gear;
  annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end Fed;
END
cat >d.csv <<'END'
time,"tri,angle",steps,jump,on,gear,cubic,text
0,0,1,0,0,1,0,a
0.5,0.5,1,0.5,0,1,-0.375,b
1,1,3,1,1,2,0,c
1,1,3,-1,1,2,0,c
1.5,0.5,3,-0.5,1,3,1.875,d
2,0,0,0,0,3,6,e
END
others=(--input on=d.csv:on --input gear=d.csv:gear)
run 0 simulate fed.mo --input u=d.csv:tri,angle "${others[@]}" --json -
near x 1; near y 1; near z 3.5
run 0 simulate fed.mo --input u=d.csv:steps:hold "${others[@]}" --json -; near x 4
has out '"time": 1.0'
run 0 simulate fed.mo --input u=d.csv:jump "${others[@]}" --json -; near x 0
# The spline goes through t^3 - t exactly; its own table, without the doubled row
grep -v '^1,1,3,-1' d.csv >smooth.csv
run 0 simulate fed.mo --input u=smooth.csv:cubic:spline "${others[@]}" --json -; near x 2
run 0 simulate fed.mo --input u=smooth.csv:cubic:spline "${others[@]}" --stop-time 1.25 --json -
near x -0.1708984375
run 0 simulate fed.mo --input u=d.csv:jump:spline "${others[@]}" --json -; near x 0

# A run may begin within the data
run 0 simulate fed.mo --input u=d.csv:steps:hold "${others[@]}" --start-time 0.75 --stop-time 1.5 --json -; near x 1.75
# Semicolons, tabs, comments and a byte order mark
printf '\xef\xbb\xbf# measured\nt;v\n0;2\n2;2\n' >semi.csv
run 0 simulate fed.mo --input u=semi.csv:v "${others[@]}" --json -; near x 4
printf 'seconds\tv\n0\t2\n2\t4\n' >tab.tsv
run 0 simulate fed.mo --input u=tab.tsv:v "${others[@]}" --json -; near x 6

# What Saltus writes can be read again
cat >source.mo <<'END'
model Source
  Real w = if time < 1 then 1 else 3;
  Real v(start = 0, fixed = true), minus = -v;
equation
  der(v) = w;
  annotation(experiment(StopTime = 2, Interval = 0.01));
end Source;
END
run 0 simulate source.mo --output . --format csv,mat
for file in Source.csv Source.mat; do
  run 0 simulate fed.mo --input u=$file:w "${others[@]}" --json -; near x 4 1e-7
  run 0 simulate fed.mo --input u=$file:minus:linear "${others[@]}" --json -; near x -3 1e-3
done

# Many rows: no event and no equation for each
awk 'BEGIN {print "time,u"; for (k = 0; k <= 20000; ++k) printf "%.17g,%.17g\n", k*1e-4, sin(3*k*1e-4)}' >many.csv
run 0 simulate fed.mo --input u=many.csv:u "${others[@]}" --tolerance 1e-6 --json -
near x "$(awk 'BEGIN {printf "%.15g", (1 - cos(6))/3}')" 1e-5
run 0 simulate fed.mo --input u=many.csv:u:spline "${others[@]}" --tolerance 1e-8 --json -
near x "$(awk 'BEGIN {printf "%.15g", (1 - cos(6))/3}')" 1e-7

# Studies
run 0 sweep fed.mo --vary x=0,1 --input u=d.csv:steps:hold "${others[@]}" --record x --output s.csv
cut -d, -f1-3 s.csv | grep -q '^1,1,5' || fail "sweep: $(cat s.csv)"

# What is wrong is told before anything runs
printf 'time,u\n0,1\n1.9,1\n' >short.csv
printf 'time,u\n0.1,1\n2,1\n' >late.csv
printf 'time,u\n0,1\n1,nan\n2,1\n' >nan.csv
printf 'time,u\n0,1\n1,\n2,1\n' >gap.csv
printf 'time,u\n0,1\n2,1\n1,1\n' >back.csv
printf 'time,u\n0,1\n1,1\n1,2\n1,3\n2,1\n' >thrice.csv
printf '0,1\n2,1\n' >bare.csv
printf 'time,u\n0,1\n' >one.csv
printf 'time,u\n0,1\n2\n' >torn.csv
while IFS='|' read -r input message; do
  # shellcheck disable=SC2086
  run 2 simulate fed.mo "${others[@]}" --input $input --output w; has err "$message"
  [ -e w ] && fail "--input $input: there is a result"
  # shellcheck disable=SC2086
  run 2 sweep fed.mo "${others[@]}" --input $input --vary x=0,1 --record x --output w.csv; has err "$message"
  [ -e w.csv ] && fail "--input $input: there is a study"
done <<'END'
u=none.csv:u|cannot read the data 'none.csv'
u=d.csv:step|did you mean 'steps'
u=d.csv|which column
u=d.csv:|which column
u=d.csv:text|d.csv:2
u=short.csv:u|reach from t = 0 to 1.9
u=late.csv:u|reach from t = 0.1
u=nan.csv:u|nan.csv:3
u=gap.csv:u|gap.csv:3
u=back.csv:u|back.csv:4
u=thrice.csv:u|three times
u=bare.csv:u|names of their columns
u=one.csv:u|at least two
u=torn.csv:u|torn.csv:3
v=d.csv:steps|'v'
u=d.mat:u|cannot
u=d.h5:u|cannot
END
[ $failures -eq 0 ] || echo "$failures failures"
exit $((failures > 0))
