"""sentence-transformers' SentenceTransformer as a user calls it: python sentence_transformer.py CHECKPOINT.

The checkpoint is a bare encoder: mean pooling, length 1, 512 tokens. Requests: {"input": FILE, "threads": 2}, FILE of JSON
lines. "startMs" in the answer is what importing and loading took.
"""

import sys
import time

started = time.perf_counter()

import torch  # noqa: E402
from sentence_transformers import SentenceTransformer  # noqa: E402
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer  # noqa: E402

from lines import serve, texts  # noqa: E402

network = Transformer(sys.argv[1], max_seq_length=512)
pooling = Pooling(network.get_embedding_dimension(), pooling_mode="mean")
model = SentenceTransformer(modules=[network, pooling, Normalize()], device="cpu")
start_ms = 1000 * (time.perf_counter() - started)


def measure(request):
    torch.set_num_threads(request["threads"])
    documents = texts(request["input"])
    start = time.perf_counter()
    vectors = model.encode(documents)
    ms = 1000 * (time.perf_counter() - start)
    return {"ms": ms, "startMs": start_ms, "sum": float(vectors.sum())}


serve(measure)
