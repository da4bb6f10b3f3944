#!/bin/bash
# More than a thousand bad command lines: each ends with status 2, says what is wrong in a line that
# begins with "error:" or a place, and leaves nothing behind. Usage: command_lines.sh path/to/saltus
set -u
saltus=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
count=0
try() {
  count=$((count + 1))
  timeout 20 "$saltus" "$@" >out 2>err </dev/null
  local status=$?
  if [ $status -ne 2 ]; then
    echo "FAILED: exit $status: saltus $(printf '%q ' "$@"): $(head -c 200 err)"
  elif ! grep -qE '(^|: )error: .' err; then
    echo "FAILED: nothing said: saltus $(printf '%q ' "$@"): $(head -c 200 err)"
  elif grep -qE 'stoul|stod|_M_|vector::|basic_string|std::|bad_|what\(\)' err; then
    echo "FAILED: raw text: saltus $(printf '%q ' "$@"): $(head -c 200 err)"
  else
    return
  fi
  failures=$((failures + 1))
}
long=$(printf 'x%.0s' {1..5000})
printf 'model M\n  Real x(start = 1, fixed = true);\n  parameter Real p = 1;\nequation\n  der(x) = -p*x;\nend M;\n' >m.mo
mkdir folder
numbers=('' ' ' abc nan -nan inf -inf 1e400 1,5 1.5.5 0x 1e 1e+ -- - + . "$long" $'1\n2' '1 2' "'1'" '"1"' '$(x)' '%s%n' 1e-400x ½)
for option in --start-time --stop-time --tolerance --interval --absolute-tolerance --hysteresis --max-step --max-seconds; do
  for number in "${numbers[@]}"; do
    for model in ball m.mo; do try simulate "$model" "$option" "$number" --output out_; done
  done
  try simulate ball "$option"
  try simulate ball "$option=" --output out_
done
for number in 0 -1 1 2 1e-15 1e300 -0.0; do
  try simulate ball --tolerance $number --output out_
  try simulate m.mo --tolerance $number --output out_
done
for number in -1 -1e-300; do try simulate ball --interval $number --output out_; try simulate ball --absolute-tolerance $number --output out_; done
for option in --method --formulation --chattering --format; do
  for word in '' ' ' x radau5 RADAU csv,x "$long" -1 ../x $'a\nb' '*' filippov,stop; do
    try simulate ball "$option" "$word" --output out_
    try simulate m.mo "$option" "$word" --output out_
  done
done
names=('' ' ' nosuch no.such No.Such.Class "$long" ../ball /ball ball/ 'ball ' -ball --ball .mo :M m.mo: m.mo:N m.mo:M.N
  nosuch.mo nosuch.mo:M folder folder.mo folder/ / . .. $'a\nb' "m.mo:'" 'm.mo:"' 'm.mo:M M' 'Saltus.' '.Saltus' 'Saltus..Examples' Saltus Saltus.Examples Saltus.Examples.Nag
  m.mo.mo m.mo:m 'M' '*' '?' '~' '$HOME' '%s' '\' '{}' '[]' '()' ';' '|' '&' '<' '>' '#' '!' '@' '^')
for command in simulate analyze check compare; do
  for name in "${names[@]}"; do
    try $command "$name"
    try $command "$name" --library folder
  done
  try $command
  try $command ball ball
  try $command m.mo --library nosuch
  try $command m.mo --library m.mo
  try $command m.mo --library ''
  try $command --nosuch m.mo
  try $command m.mo --nosuch
  try $command m.mo -x
  try $command m.mo --set
done
settings=('' ' ' = =1 p p= p== p=abc 'p=1 2' p=1,5 q=1 p.q=1 'p[1]=1' 'p[=1' 'p]=1' x.start=1 der=1 "p=\"a\"" 'p={1}' 'p=time' 'p=nosuch' 'p=p' 'p=(' 'p=1)' $'p=1\n'x
  "$long=1" "p=$long" 'p=1e400x' 'p=true' 'p=sin' 'p=sin()' '.p=1' 'p.=1' 'p..q=1' '[1]=2' 'p=if' 'p=[' 'p=[1,2;3]' "'=1" "p='" 'p="' 'p=--' 'p=*' 'p=1;' 'p=a.b' 'p=der(x)' 'p=1:2' 'p=<' 'model=1' 'end=1')
for setting in "${settings[@]}"; do
  try simulate m.mo --set "$setting" --output out_
  try check m.mo --set "$setting"
  try analyze m.mo --set "$setting"
  try simulate m.mo --input "$setting" --output out_
  try compare m.mo --set "$setting"
done
for setting in '' = =1 e e= e=abc q=1 e=1,5 e=nanx "$long=1" 'e=1 2' 'e =1' ' e=1' 'e=0x1' 'e=1e400'; do
  try simulate ball --set "$setting" --output out_
  try analyze ball --set "$setting"
  try simulate ball --input "$setting" --output out_
  try compare ball --set "$setting"
done
for tie in '' : :: a:b:c flying flying: flying:impact flying:impact,: flying:impact,impact flying:,:x x:y,z:w ',' "$long"; do
  try simulate ball --disjoint "$tie" --output out_
done
for name in '' nosuch ' ' h.x "$long" '*' 'der(h)' time; do
  try simulate ball --sensitivity "$name" --output out_
  try simulate m.mo --sensitivity "$name" --output out_
done
for path in folder nosuch/../folder /dev/null/x /proc/x; do
  try simulate ball --report "$path"
  try simulate ball --json "$path"
done
for path in m.mo /dev/null /dev/null/x /proc/nosuch m.mo/x; do try simulate ball --output "$path"; done
for word in '' x sim Simulate simulat analyse -simulate --simulate "$long" 1 '*' . ..; do try "$word"; try "$word" ball; done
for number in "${numbers[@]}" 0 -1 1.5; do try analyze ball --max-modes "$number"; done
for list in '' , x radau,x 1e-3x "$long" ',,'; do
  try compare ball --methods "$list"
  try compare ball --formulations "$list"
  try compare ball --tolerances "$list"
done
# Commands with data and steps of their own
try realtime m.mo --step
for number in "${numbers[@]}" 0 -1 1e300 1e-300; do
  try realtime m.mo --step "$number"
  try collisions --step "$number"
  [ "$number" = 1,5 ] || try springs --steps "$number"
done
try realtime m.mo --step 1e-3 --stop-time 1e300
try realtime m.mo --step 1e-3 --max-events -1
try realtime m.mo --step 1e-3 --adjust x
for vary in '' = p= p p=x p=nan,1 p=1,1e400 p=1:2 p=1:2:1e-300 p=0:0:0 p=0:-1:5 p=lin:1:2 p=lin:1:2:x p=log:0:1:3 p=log:-1:1:3 q=1,2; do
  try sweep m.mo --vary "$vary" --record x --output s.csv
done
for jobs in 0 -1 x ''; do try sweep m.mo --vary p=1,2 --record x --output s.csv --jobs "$jobs"; done
try sweep m.mo --vary p=1,2
try sweep m.mo --vary p=1,2 --record nosuch --output s.csv
try sweep m.mo --vary p=1,2 --record x --output m.mo
try sweep m.mo --vary p=1,2 --record x --output folder
for data in '' 'time,x\n' 'time,x\n0,1\n' 'time,x\n0,1\n0,2\n' 'time,x\n1,1\n0,2\n' 'time,x\n0,a\n1,2\n' 'time,x\n0,nan\n1,2\n' 'time,x\n0,1e400\n1,2\n' \
  'time,x\n0,1,2\n1,2\n' 'time,x\n0\n1,2\n' 'time;x\n0;1\n1,5;2\n' 'time;x\n0;1\n1;2,5\n' 'x\n1\n2\n' 'time,q\n0,1\n1,2\n' 'time,x,x\n0,1,1\n1,2,2\n' '\0\0\0'; do
  printf "$data" >d.csv
  try fit m.mo --data d.csv --free p
done
printf 'time,x\n0,1\n1,0.4\n' >d.csv
for free in '' , q x time p,q 'p=1' 'p[1]'; do try fit m.mo --data d.csv --free "$free"; done
for command in linearize steady frequency fit sweep realtime; do
  for name in '' nosuch m.mo:N nosuch.mo folder . / "$long" $'a\nb'; do try $command "$name"; done
  try $command
  try $command m.mo --nosuch
done
for number in "${numbers[@]}"; do try linearize m.mo --at "$number"; done
try collisions --case 1 --stop-time -1
# Pipes and devices are no data: they may never end
mkfifo pipe.csv
ln -s /dev/zero zero.csv
for data in pipe.csv zero.csv folder; do
  try fit m.mo --data $data --free p
  try realtime m.mo --stop-time 0.01 --input $data
done
rm -f d.csv s.csv pipe.csv zero.csv
[ -e out_ ] && { echo "FAILED: wrong input has left a folder: $(ls -R out_)"; failures=$((failures + 1)); }
echo "$count command lines, $failures failures"
[ $count -ge 1000 ] || { echo "FAILED: fewer than a thousand"; exit 1; }
[ $failures -eq 0 ]
