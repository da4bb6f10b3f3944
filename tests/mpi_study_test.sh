#!/bin/bash
# A study under mpirun: the same file as from one process, also after a rank was killed. Exits with
# 77 where there is no mpirun. Usage: mpi_study_test.sh path/to/saltus
set -u
command -v mpirun >/dev/null || exit 77
saltus=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

study=(sweep ball --vary e=lin:0.5:0.9:3000 --record h --record "peak = max(v)" --quiet)
"$saltus" "${study[@]}" --jobs 1 --output alone.csv || fail "alone"
for ranks in 2 4; do
  mpirun -n $ranks --oversubscribe "$saltus" "${study[@]}" --output ranks$ranks.csv || fail "$ranks ranks"
  cmp alone.csv ranks$ranks.csv || fail "$ranks ranks give another file"
done

# One rank dies in the middle of a study of some seconds. mpirun then ends the others; what is
# finished is kept.
study[3]=e=lin:0.5:0.9:30000
"$saltus" "${study[@]}" --output alone.csv || fail "alone, longer"
done_blocks() { [ -e killed.csv.journal/blocks ] && tr -d '\0' <killed.csv.journal/blocks | wc -c || echo 0; }
mpirun -n 4 --oversubscribe "$saltus" "${study[@]}" --output killed.csv >/dev/null 2>&1 &
launcher=$!
for _ in $(seq 500); do
  [ "$(done_blocks)" -ge 3 ] || [ -e killed.csv ] && break
  sleep 0.02
done
rank=$(pgrep -P $launcher -f "output killed.csv" | tail -n 1)
[ -n "$rank" ] && kill -9 "$rank" || fail "there is no rank to kill"
wait $launcher 2>/dev/null
before=$(done_blocks)
if [ -e killed.csv ]; then
  fail "the study was complete before its rank was killed"
else
  [ "$before" -ge 3 ] || fail "finished blocks are lost: $before"
  mpirun -n 2 --oversubscribe "$saltus" "${study[@]}" --output killed.csv --resume || fail "resume"
  cmp alone.csv killed.csv || fail "the resumed study gives another file"
fi
[ -e killed.csv.journal ] && fail "the journal is still there"

[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
