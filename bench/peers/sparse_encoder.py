"""sentence-transformers' SparseEncoder as a user calls it: python sparse_encoder.py CHECKPOINT.

Requests: {"input": FILE, "threads": 2}, FILE of JSON lines. "startMs" in the answer is what importing and loading took.
"""

import sys
import time

started = time.perf_counter()

import torch  # noqa: E402
from sentence_transformers import SparseEncoder  # noqa: E402
from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling  # noqa: E402

from lines import serve, texts  # noqa: E402

model = SparseEncoder(modules=[MLMTransformer(sys.argv[1]), SpladePooling(pooling_strategy="max")], device="cpu")
start_ms = 1000 * (time.perf_counter() - started)


def measure(request):
    torch.set_num_threads(request["threads"])
    documents = texts(request["input"])
    start = time.perf_counter()
    vectors = model.encode(documents)
    ms = 1000 * (time.perf_counter() - start)
    counts = vectors.coalesce().indices()[0].bincount(minlength=len(documents)).float()
    return {"ms": ms, "startMs": start_ms, "activeTerms": float(counts.mean())}


serve(measure)
