"""The peers' side of bench/lib/contender.ts: one JSON line in, one JSON line out."""

import json
import sys


def serve(measure):
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(measure(json.loads(line))), flush=True)


def texts(path):
    """What lzero encodes of each document: title and text."""
    with open(path, encoding="utf8") as lines:
        documents = [json.loads(line) for line in lines]
    return [f"{d.get('title', '')} {d['text']}".strip() for d in documents]
