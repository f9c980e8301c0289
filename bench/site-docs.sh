#!/bin/sh
# All that is measured of search in a site of 5,400 pages of documentation, in order, unattended:
#
#     npm run build && npm install --prefix PEERS pagefind
#     LZERO_CHROMIUM=/usr/bin/chromium LZERO_PAGEFIND=PEERS/node_modules/.bin/pagefind sh bench/site-docs.sh FOLDER [MODEL]
#
# Each step leaves a file in FOLDER, and is left out where that is there: called again, it goes on where it was; encoding goes on,
# too. FOLDER/times.txt sums up what the build took, over all calls. Results: FOLDER/*.txt and *.json. Nothing else should run.
set -eu

folder=${1:?usage: site-docs.sh FOLDER [MODEL]}
[ -n "${LZERO_CHROMIUM:-}" ] || { echo 'LZERO_CHROMIUM names no Chromium' >&2; exit 2; }
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ $# -gt 1 ]; then
  set -- --model "$2"
else
  set --
fi
cd "$here"

# step NAME COMMAND…: FOLDER/NAME.txt is what it printed
step() {
  name=$1
  shift
  [ -e "$folder/$name.txt" ] && return 0
  echo "== $name: $(date '+%H:%M:%S')" >&2
  if "$@" > "$folder/$name.partial" 2>&1; then
    mv "$folder/$name.partial" "$folder/$name.txt"
    cat "$folder/$name.txt"
  else
    cat "$folder/$name.partial" >&2
    echo "$name failed; the same command goes on with it" >&2
    exit 1
  fi
}

sh scripts/site-pages.sh "$folder"

# The model's vectors come from the cache where an earlier call got so far: the time of all calls is the time of the build. Calls
# that were stopped count, too; one that was killed by -9, or with the machine, is missing, and its vectors came for nothing.
build() {
  began=$(date +%s)
  node dist/cli/main.js site build "$folder/site" -o "$folder/search" --cache "$folder/cache" "$@" && ok=0 || ok=$?
  took
  return "$ok"
}
took() {
  [ -z "$began" ] || echo "$(($(date +%s) - began))" >> "$folder/times.txt"
  began=
}
began=
trap 'took; exit 130' INT TERM
step build build "$@"
step rebuild node dist/cli/main.js site build "$folder/site" -o "$folder/search" --cache "$folder/cache" "$@"
index() {
  rm -rf "$folder/docs.index"
  npx tsx bench/site-index.ts "$folder/site" -o "$folder/docs.index" --cache "$folder/cache" "$@"
}
step index index "$@"
step identity env LZERO_SITE_PAGES="$folder" npx vitest run test/browser/site-docs.test.ts
step changes npx tsx bench/site-changes.ts "$folder/docs.index" --json "$folder/changes.json"
node -e 'for (const line of require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n")) console.log(JSON.parse(line).text)' \
  bench/peers/site-queries.jsonl > "$folder/queries.txt"
step visits npx tsx bench/site.ts "$folder/search" "$folder/queries.txt"
seconds=$(awk '{ sum += $1 } END { print sum }' "$folder/times.txt")
step pagefind npx tsx bench/peers/pagefind.ts --pages "$folder/site" --ours "$folder/search" --build-seconds "$seconds" \
  --json "$folder/pagefind.json"
echo "all of it is in $folder/*.txt"
