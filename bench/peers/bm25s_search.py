"""bm25s on one thread. Words come analysed, one document or query a line: only the search is measured.

python bm25s_search.py DOCUMENTS QUERIES [numba]     speaks the lines of bench/lib/contender.ts
"""

import json
import sys
import time

import bm25s


def lines(path):
    with open(path, encoding="utf8") as file:
        return [line.split() for line in file.read().split("\n")[:-1]]


def main():
    documents, queries = lines(sys.argv[1]), lines(sys.argv[2])
    backend = "numba" if sys.argv[3:] == ["numba"] else "numpy"
    start = time.perf_counter()
    retriever = bm25s.BM25(k1=0.9, b=0.4, method="lucene", backend=backend)
    retriever.index(documents, show_progress=False)
    build_ms = (time.perf_counter() - start) * 1000
    print(json.dumps({"ready": True, "buildMs": build_ms}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        k, asked = request["k"], queries[request["from"] : request["to"]]
        start = time.perf_counter()
        docs, _ = retriever.retrieve(asked, k=k, n_threads=0, show_progress=False)
        ms = (time.perf_counter() - start) * 1000
        print(json.dumps({"ms": ms, "sum": int(docs.sum())}), flush=True)


main()
