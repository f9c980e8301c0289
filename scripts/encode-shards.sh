#!/usr/bin/env bash
# Encodes a corpus with several processes of this machine, each every n-th document, and joins what they wrote in the order
# of the corpus. Killed, it goes on when it is run again, as `lzero encode` does.
#
#   scripts/encode-shards.sh corpus.jsonl vectors.jsonl 4 --model ./my-model
#
# LZERO is the command (node dist/cli/main.js). On several machines run one `lzero encode --shard i/n` each, and the last
# two lines here where all of it has come together.
set -euo pipefail

[ $# -ge 3 ] || { echo 'usage: scripts/encode-shards.sh INPUT OUTPUT NUMBER [options of lzero encode]' >&2 && exit 2; }
input="$1" output="$2" number="$3"
shift 3
read -ra lzero <<<"${LZERO:-node dist/cli/main.js}"

running=() shards=()
for ((i = 1; i <= number; i++)); do
  shard="$output.$i-of-$number"
  shards+=("$shard")
  [ -f "$shard" ] && continue # an earlier run has finished it
  "${lzero[@]}" encode "$input" -o "$shard" --shard "$i/$number" --quiet "$@" &
  running+=($!)
done
failed=0
for pid in "${running[@]}"; do wait "$pid" || failed=1; done
[ "$failed" = 0 ] || { echo 'encode-shards.sh: a shard failed; run it again to go on' >&2 && exit 1; }

paste -d '\n' "${shards[@]}" | sed '/^$/d' >"$output.joined" # a shard may have one line less
mv "$output.joined" "$output" && rm "${shards[@]}"
