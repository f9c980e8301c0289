#!/usr/bin/env bash
# Encodes a corpus with several processes of this machine, each every n-th document, and joins what they wrote in the order
# of the corpus. Killed, it goes on when it is run again, as `lzero encode` does.
#
#   scripts/encode-shards.sh corpus.jsonl vectors.jsonl 4 --model ./my-model
#
# Shards have a hash of input and options in their names, contents of files and folders that options name included: what an
# earlier run made of another corpus, or with another model, is not taken for this one's, and stays where it is.
#
# LZERO is the command (node dist/cli/main.js). On several machines run one `lzero encode --shard i/n` each, and the last
# two lines here where all of it has come together.
set -euo pipefail

[ $# -ge 3 ] || { echo 'usage: scripts/encode-shards.sh INPUT OUTPUT NUMBER [options of lzero encode]' >&2 && exit 2; }
input="$1" output="$2" number="$3"
shift 3
read -ra lzero <<<"${LZERO:-node dist/cli/main.js}"

# Checksums of the files of a path, without the folder it lies in: a corpus may be moved.
contents() { (cd "$(dirname "$1")" && find -L "$(basename "$1")" -type f -exec cksum {} + | sort); }

key="$({
  printf '%s\n' "$number" "$@"
  contents "$input"
  for option in "$@"; do [ ! -e "$option" ] || contents "$option"; done
} | cksum | cut -d' ' -f1)"

running=() shards=()
for ((i = 1; i <= number; i++)); do
  shard="$output.$key.$i-of-$number"
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
