#!/bin/bash
# Studies as a user meets them: files, messages, kill and resume. Usage: study_test.sh path/to/saltus
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
has() { grep -qF -- "$2" "$1" || { fail "$1 lacks '$2' (saltus said: $(head -c 300 "$1"))"; }; }
exists() { [ -s "$1" ] || fail "no file $1"; }
absent() { [ ! -e "$1" ] || fail "there is $1"; }
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }

# The ball's bounces: where they come to rest the sequence of modes is another one
run 0 sweep ball --vary e=0.5:0.1:0.9 --record h --record "peak = max(v)" --output b.csv --report b.html
has out "5 runs, 0 failed"; has out "e = 0.7 and 0.8"; has b.csv "run,e,h,peak,status"; has b.html "<svg"
absent b.csv.journal
[ "$(wc -l <b.csv)" -eq 6 ] || fail "lines of b.csv"
# One run of the study is what `simulate` gives
run 0 simulate ball --set e=0.8 --json - ; h=$(sed -n 's/^ *"h": \([-0-9.e]*\),*$/\1/p' out | head -1)
grep -q "^3,0.8,$h," b.csv || fail "run 3 ($(grep '^3,' b.csv)) is not the run with h = $h"

# A record that is called like a varied value or a column is told apart
run 0 sweep ball --vary h=1,2 --record h --record status=v --output same.csv; has same.csv "run,h,h_,status_,status,"

# The same file whatever the number of workers
for jobs in 1 2 4; do
  run 0 sweep ball --latin 200 --vary e=0.5:0.9 --normal g=9.81,0.1 --record h --jobs $jobs --output j$jobs.csv --quiet
done
same j1.csv j2.csv; same j1.csv j4.csv
run 0 sweep ball --sobol 64 --vary e=0.5:0.9 --record h --output s.csv
run 0 sweep ball --indices 16 --vary e=0.5:0.9 --vary g=9:10 --record h --output i.csv; has out "Sobol index of g"
[ "$(wc -l <i.csv)" -eq 65 ] || fail "lines of i.csv"
run 0 sweep ball --zip --vary e=0.5,0.6 --vary g=9,10 --record h --output z.csv
[ "$(wc -l <z.csv)" -eq 3 ] || fail "lines of z.csv"

# Killed and resumed: equal to the undisturbed study
study=(sweep ball --vary e=lin:0.5:0.9:3000 --record h --quiet --jobs 2)
run 0 "${study[@]}" --output whole.csv
"$saltus" "${study[@]}" --output killed.csv 2>/dev/null &
pid=$!
for _ in $(seq 200); do
  [ -e killed.csv.journal/blocks ] && [ "$(tr -d '\0' <killed.csv.journal/blocks | wc -c)" -ge 3 ] && break
  sleep 0.02
done
{ kill -9 $pid && wait $pid; } 2>/dev/null
absent killed.csv; exists killed.csv.journal/study
run 2 "${study[@]}" --output killed.csv; has err "--resume"
run 2 sweep ball --vary e=lin:0.5:0.8:3000 --record h --resume --output killed.csv; has err "another study"
run 0 "${study[@]}" --output killed.csv --resume
same whole.csv killed.csv; absent killed.csv.journal
run 2 "${study[@]}" --output other.csv --resume; has err "no journal"

# Failed runs are kept with their reason
cat >fails.mo <<'END'
model Fails
  parameter Real k = 1;
  parameter Integer n = 2;
  Real x(start = 1, fixed = true);
  Real y[n];
equation
  der(x) = -k*x;
  for i in 1:n loop
    y[i] = i*x;
  end for;
  assert(x > 0.5, "too low");
end Fails;
END
run 0 sweep fails.mo --vary k=0.1,10 --record x --stop-time 1 --output f.csv
has out "2 runs, 1 failed"; has err "too low"; has f.csv "assertion"
# A value that decides about the structure: the model is translated for every run
run 0 sweep fails.mo --vary n=2,3 --set k=0.1 --record "y[2]/x" --stop-time 1 --output n.csv; has err "translated anew"
cut -d, -f1-3 n.csv | grep -q '^1,3,2$' || fail "y[2]/x in $(cat n.csv)"
# ... and one that decides about a branch
cat >branch.mo <<'END'
model Branch
  parameter Real p = 1;
  parameter Real q = 2*p;
  Real x(start = q, fixed = true);
  Real y = if p > 1.5 then 10 else 20;
equation
  der(x) = -x;
end Branch;
END
run 0 sweep branch.mo --vary p=1,2 --record y --record "initial(x)" --stop-time 1 --output p.csv
cut -d, -f1-4 p.csv | grep -q '^0,1,20,2$' || fail "first run of $(cat p.csv)"
cut -d, -f1-4 p.csv | grep -q '^1,2,10,4$' || fail "second run of $(cat p.csv)"
# A parameter that depends on another one
run 0 sweep branch.mo --vary q=5,6 --record "initial(x)" --stop-time 1 --output q.csv
cut -d, -f1-3 q.csv | grep -q '^1,6,6$' || fail "second run of $(cat q.csv)"

# Wrong input is told before anything runs
while IFS='|' read -r words message; do
  # shellcheck disable=SC2086
  run 2 sweep ball --output w.csv $words; has err "$message"; absent w.csv; absent w.csv.journal
done <<'END'
--record h|nothing is varied
--vary e=0.5,0.6|nothing is recorded
--vary q=1,2 --record h|'q'
--vary e=0.5,0.6 --record hight|hight
--vary e=0.5,0.6 --record max(|missing
--vary e=1:0.1:0.5 --record h|empty
--vary e=nan --record h|finite
--vary e=lin:0:1:1000000000 --record h|more than
--vary e=lin:0:1:100000 --vary g=lin:9:10:10000 --record h|1e+09 runs
--vary e=0.5:0.9 --record h|samples
--vary e=0.5,0.6 --vary e=0.7,0.8 --record h|twice
--zip --vary e=0.5,0.6 --vary g=9 --record h|equal number
--latin 0 --vary e=0.5:0.9 --record h|at least one
--normal e=0.5,0 --latin 3 --record h|positive
--vary e=0.5,0.6 --record x=h --record x=v|two records
END
run 2 sweep ball --vary e=0.5,0.6 --record h --output w.txt; has err ".csv"
run 2 sweep nothing.mo --vary e=0.5,0.6 --record h --output w.csv; has err "nothing.mo"
run 2 sweep ball --vary e=0.5,0.6 --record h --jobs 0 --output w.csv

# Linear models and equilibria, of models in text
cat >lin.mo <<'END'
model Lin
  input Real u;
  parameter Real L = 0.5;
  Real i, v(start = 1, fixed = true);
equation
  L*der(i) = u - 2*i - v;
  0.1*der(v) = i;
end Lin;
END
run 0 linearize lin.mo --inputs u --outputs v; has out "pole     -2 - 4i"
run 0 linearize lin.mo --inputs u --input "u=3*time" --outputs v; has out "pole     -2 + 4i"
run 0 linearize lin.mo --input u=0 --inputs L --outputs i --json lin.json; has lin.json '"poles"'
run 0 frequency lin.mo --inputs u --outputs v --from 0.001 --to 1 --points 2; has out "omega"
tail -n 2 out | head -n 1 | awk -F, '{exit !($2 > 0.9999 && $2 < 1.0001)}' || fail "v/u at low frequency: $(cat out)"
run 0 frequency lin.mo --inputs u --outputs v --response step --duration 20 --output step.csv
tail -n 1 step.csv | awk -F, '{exit !($2 > 0.999999 && $2 < 1.000001)}' || fail "step response: $(tail -n 1 step.csv)"
run 2 frequency lin.mo --input u=0 --outputs v; has err "needs an input"
run 2 linearize lin.mo --input u=0 --inputs nothing; has err "nothing"
run 2 linearize lin.mo --input u=0 --outputs nothing; has err "nothing"
run 0 steady lin.mo --input u=12; has out "stable"
awk '$1 == "v" {exit !($2 > 12 - 1e-9 && $2 < 12 + 1e-9)}' out || fail "v at rest: $(cat out)"

# Parameters from data: x = 2 exp(-0.7 t), exact and with gaps
cat >fit.mo <<'END'
model Fit
  parameter Real k = 0.3;
  parameter Real x0 = 1;
  parameter Real a = 1;
  Real x(start = x0, fixed = true);
equation
  der(x) = -a*k*x;
end Fit;
END
awk 'BEGIN {print "t,speed,other"; for (i = 0; i <= 40; ++i) {t = i/10; printf "%.17g,%s,%d\n", t, i == 7 ? "" : sprintf("%.17g", 2*exp(-0.7*t)), i}}' >data.csv
run 0 fit fit.mo --data data.csv --column x=speed --free k,x0 --json fit.json --output residuals.csv
grep -A1 '"k"' fit.json | grep -Eq '0\.(70000000|69999999)' || fail "k is not 0.7: $(cat fit.json)"
grep -A1 '"x0"' fit.json | grep -Eq '(2\.0000000|1\.9999999|2\.0,)' || fail "x0 is not 2: $(cat fit.json)"
has out "+-"; exists residuals.csv
run 1 fit fit.mo --data data.csv --column x=speed --free k,a; has err "a"; has err "do not tell"
run 2 fit fit.mo --data data.csv --column y=speed --free k; has err "'y'"
run 2 fit fit.mo --data data.csv --column x=sped --free k; has err "speed"
run 2 fit fit.mo --data data.csv --column x=speed --free q; has err "'q'"
run 2 fit fit.mo --data data.csv --column x=speed --free k --stop-time 2; has err "within"
run 2 fit fit.mo --data none.csv --free k; has err "none.csv"
run 2 fit fit.mo --data data.csv --column x=speed --free k --bounds k=0:1x; has err "'1x'"
run 2 fit fit.mo --data data.csv --column x=speed --free k --bounds k=2:1; has err "empty"
run 0 fit fit.mo --data data.csv --column x=speed --free k,x0 --bounds k=:0.5 --json fit.json; has out "at its bound"
sed 's/^0.5,.*/0.5,nan,0/' data.csv >nan.csv
run 2 fit fit.mo --data nan.csv --column x=speed --free k; has err "nan.csv:7"

[ $failures -eq 0 ] && echo "all right" || { echo "$failures failures"; exit 1; }
