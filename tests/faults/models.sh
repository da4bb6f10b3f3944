#!/bin/bash
# Models that are wrong, or that go wrong during a run: none ends the program by a signal, and each
# is told what is wrong. The first line of a model says how it is run, which exit status is right
# and what is said:  // simulate --stop-time 2 -> 1: regular expression
# Usage: models.sh path/to/saltus [MODEL.mo ...]
set -u
saltus=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
count=0
models=("$@")
[ ${#models[@]} -gt 0 ] || models=("$here"/*.mo)
for model in "${models[@]}"; do
  line=$(head -n 1 "$model")
  pattern='^// (.*) -> ([^:]+): (.*)$'
  if ! [[ $line =~ $pattern ]]; then
    echo "FAILED: $model: its first line does not say what is right"
    failures=$((failures + 1))
    continue
  fi
  read -ra words <<<"${BASH_REMATCH[1]}"
  wanted=${BASH_REMATCH[2]}
  said=${BASH_REMATCH[3]}
  output=()
  [ "${words[0]}" = simulate ] && output=(--output out)
  timeout 60 "$saltus" "${words[0]}" "$model" "${words[@]:1}" "${output[@]}" >all 2>&1
  status=$?
  count=$((count + 1))
  if ! [[ $status =~ ^$wanted$ ]]; then
    echo "FAILED: $(basename "$model"): exit $status, not $wanted: $(head -c 400 all)"
    failures=$((failures + 1))
  elif ! grep -qE -- "$said" all; then
    echo "FAILED: $(basename "$model"): nothing like '$said' in: $(head -c 400 all)"
    failures=$((failures + 1))
  fi
  [ "$(find . -type f ! -path './out/*' ! -name all | wc -l)" -eq 0 ] ||
    { echo "FAILED: $(basename "$model") has left files: $(ls)"; failures=$((failures + 1)); }
done
echo "$count models, $failures failures"
[ $failures -eq 0 ]
