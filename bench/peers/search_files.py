"""The peers' side of bench/search-peers.ts: the files of bench/lib/search-files.ts, and the lines that are spoken.

    {"kind": "build"}                                         → {"ms", "sizeBytes", "settings"}
    {"kind": "search", "setting", "k", "numQueries"}          → {"ms", "us": [of each query]}
    … "results": path                                         also writes path.ids (i32) and path.scores (f32), k a query

A peer is a class with `build()`, which returns the bytes its index takes, `settings`, and `search(setting, query, k)`;
`unpack` turns what search returned into (documents, scores) when the clock has stopped.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np


class Vectors:
    """Documents or queries, mapped from their files."""

    def __init__(self, folder, prefix=""):
        self.offsets = np.fromfile(folder / f"{prefix}offsets.u32", dtype="<u4").astype(np.int64)
        self.terms = np.memmap(folder / f"{prefix}terms.u16", dtype="<u2", mode="r")
        self.codes = np.memmap(folder / f"{prefix}codes.u8", dtype="u1", mode="r")

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, i):
        part = slice(self.offsets[i], self.offsets[i + 1])
        return np.array(self.terms[part]), np.array(self.codes[part])

    def inverted(self):
        """By term: where each list starts, documents (i32), codes (u8)."""
        from scipy.sparse import csr_matrix

        num_terms = int(self.terms.max()) + 1
        parts = (self.codes, self.terms.astype(np.int32), self.offsets.astype(np.int32))
        columns = csr_matrix(parts, shape=(len(self), num_terms)).tocsc()
        return columns.indptr, columns.indices, columns.data


class Peer:
    """Where a peer finds its input, and where it may put its index."""

    settings = [""]

    def __init__(self, folder):
        self.documents = Vectors(folder)
        vectors = Vectors(folder, "query-")
        self.queries = [self.prepare(*vectors[i]) for i in range(len(vectors))]
        self.scratch = folder / "peer"
        self.scratch.mkdir(exist_ok=True)

    def prepare(self, terms, weights):
        """A query as the peer takes it; not measured."""
        return terms.astype(np.int32), weights.astype(np.float32)

    def unpack(self, found):
        return found

    def run(self, setting, num_queries, k):
        """What was found, and the microseconds of each query."""
        found, us = [], []
        for query in self.queries[:num_queries]:
            start = time.perf_counter_ns()
            result = self.search(setting, query, k)
            us.append((time.perf_counter_ns() - start) / 1000)
            found.append(result)
        return [self.unpack(result) for result in found], us


def size_of(path):
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


def write_results(path, found, k):
    ids = np.full((len(found), k), -1, dtype="<i4")
    scores = np.zeros((len(found), k), dtype="<f4")
    for row, (docs, values) in enumerate(found):
        ids[row, : len(docs)], scores[row, : len(docs)] = docs, values
    ids.tofile(f"{path}.ids")
    scores.tofile(f"{path}.scores")


def serve(create):
    # Engines print what they do; only answers may reach the parent.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(value):
        print(json.dumps(value), file=answers, flush=True)

    peer = create(Path(sys.argv[1]))
    answer({"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        start = time.perf_counter()
        if request["kind"] == "build":
            size = peer.build()
            answer({"ms": (time.perf_counter() - start) * 1000, "sizeBytes": size, "settings": peer.settings})
            continue
        found, us = peer.run(request["setting"], request["numQueries"], request["k"])
        if "results" in request:
            write_results(request["results"], found, request["k"])
        answer({"ms": (time.perf_counter() - start) * 1000, "us": us})
