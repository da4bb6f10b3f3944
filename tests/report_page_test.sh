#!/usr/bin/env bash
# Opens the report of the bouncing ball in headless Chromium and uses it. Skipped (77) where there is no Chromium.
#   report_page_test.sh SALTUS
set -euo pipefail
saltus=$1
command -v chromium >/dev/null || {
  echo "no chromium: skipped"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$saltus" simulate ball --quiet --report "$folder/ball.html"
{
  sed '/^<\/body><\/html>$/d' "$folder/ball.html"
  echo '<script>'
  cat "$(dirname "$0")/report_page.js"
  echo '</script></body></html>'
} >"$folder/test.html"
title=$(timeout 200 chromium --headless --no-sandbox --disable-gpu --window-size=1200,900 --user-data-dir="$folder/profile" \
  --virtual-time-budget=30000 --dump-dom "file://$folder/test.html" 2>/dev/null | grep -o '<title>[^<]*' | head -1)
echo "${title#<title>}"
[[ $title == "<title>PASSED" ]]
