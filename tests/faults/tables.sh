#!/bin/bash
# Table files that are wrong, and files that a model may not read. Usage: tables.sh path/to/saltus
set -u
saltus=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/model"
cp "$here"/tables/* "$scratch/model"
cp "$here/tables/tables.txt" "$scratch/outside.txt"
ln -s "$scratch/outside.txt" "$scratch/model/link.txt"
mkfifo "$scratch/model/pipe.txt"
cd "$scratch/model" || exit 1
failures=0
# try STATUS EXPRESSION ARGUMENTS...
try() {
  local wanted=$1 said=$2
  shift 2
  timeout 20 "$saltus" simulate Table.mo --output out "$@" >all 2>&1
  local status=$?
  if [ $status -ne "$wanted" ] || ! grep -qE -- "$said" all; then
    echo "FAILED: exit $status, not $wanted, or nothing like '$said' ($*): $(head -c 400 all)"
    failures=$((failures + 1))
  fi
}
table() { echo "t.tableName=\"$1\""; }
try 0 "reached the stop time"
try 2 "tables.txt:8:3: error: 'one' is not a number" --set "$(table word)"
try 2 "tables.txt:11:3: error: nan is no value" --set "$(table nan)"
try 2 "tables.txt:14:3: error: 1e400 is beyond" --set "$(table huge)"
try 2 "tables.txt:17:1: error: .*decimals are written with a point" --set "$(table comma)"
try 2 "tables.txt:21:1: error: .*ends here with 3 numbers; 2 x 2" --set "$(table missing)"
try 2 "tables.txt:23:[0-9]+: error: .*here follow more" --set "$(table extra)"
try 2 "tables.txt:27:1: error: .*1 comes after 2" --set "$(table falling)"
try 2 "tables.txt:29:1: error: .*has one column" --set "$(table column)"
try 2 "tables.txt:32:1: error: rows and columns" --set "$(table head)"
try 2 "has no table 'none'" --set "$(table none)"
try 2 "there is no table file 'nosuch.txt'" --set 't.fileName="nosuch.txt"'
try 2 "no file but a folder, pipe or device|may not be read" --set 't.fileName="pipe.txt"'
# Files elsewhere are read only if the user names them.
for file in ../outside.txt link.txt "$scratch/outside.txt" /etc/passwd "$scratch/model/../outside.txt"; do
  sed "s|fileName = \"tables.txt\"|fileName = \"$file\"|" "$here/tables/Table.mo" >Table.mo
  try 2 "may not be read" --stop-time 1
done
cp "$here/tables/Table.mo" .
try 0 "reached the stop time" --set "t.fileName=\"$scratch/outside.txt\""
echo "$failures failures"
[ $failures -eq 0 ]
