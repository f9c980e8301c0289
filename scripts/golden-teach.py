"""Mines and scores a few queries of SciFact in the plainest way, for test/real-teach.test.ts to compare with.

Reads a BM25 run of the queries (made by `lzero search`, which is compared with Lucene elsewhere), the collection and two
checkpoints: a sentence encoder (minilm-l6, mean pooling, 256 tokens) and a SPLADE model (splade-tiny, queries encoded).
Writes test/golden/teach/scifact.json, ids and numbers only:

    negatives   of each query: the first 8 of its 20 best candidates, answers left out, whose cosine with the query is at
                most 0.95 of the mean cosine of its answers (fewer where there are not so many)
    cosines     of answers and negatives, in this order
    products    the same by the sparse model
    ensemble    30 · mean of both, each from 0 to 1 over the list: (s − min)/(max − min + 1e-6)

Run from the root of the repository, with `pip install torch transformers`:
    node dist/cli/main.js index SCIFACT --bm25 -o bm25.index
    head -40 SCIFACT/queries.jsonl > queries.jsonl
    node dist/cli/main.js search bm25.index --queries queries.jsonl -k 25 -o bm25.trec
    python scripts/golden-teach.py SCIFACT WEIGHTS bm25.trec
"""

import collections
import datetime
import json
import pathlib
import platform
import sys

import torch
import transformers
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

DEPTH, NEGATIVES, RELATIVE_MARGIN, LENGTH, QUERIES = 20, 8, 0.05, 256, 12

scifact, weights, run_file = (pathlib.Path(name) for name in sys.argv[1:4])


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


documents = {d["_id"]: f"{d['title']} {d['text']}".strip() for d in records(scifact / "corpus.jsonl")}
texts = {q["_id"]: q["text"] for q in records(scifact / "queries.jsonl")}
answers = collections.defaultdict(list)
for line in (scifact / "qrels" / "train.tsv").read_text().splitlines()[1:]:
    query, document, relevance = line.split("\t")
    if int(relevance) > 0:
        answers[query].append(document)
run = collections.defaultdict(list)
for line in run_file.read_text().splitlines():
    query, _, document, _, score, _ = line.split()
    run[query].append((float(score), document))


def dense(text):
    batch = dense_tokenizer(text, truncation=True, max_length=LENGTH, return_tensors="pt")
    with torch.no_grad():
        states = dense_model(**batch).last_hidden_state[0]
    return torch.nn.functional.normalize(states.mean(0), dim=0)


def sparse(text):
    batch = sparse_tokenizer(text, truncation=True, max_length=LENGTH, return_tensors="pt")
    with torch.no_grad():
        logits = sparse_model(**batch).logits[0]
    weights = torch.log1p(torch.relu(logits.max(0).values))
    weights[sparse_tokenizer.all_special_ids] = 0
    return weights


dense_tokenizer = AutoTokenizer.from_pretrained(weights / "minilm-l6")
dense_model = AutoModel.from_pretrained(weights / "minilm-l6").eval()
sparse_tokenizer = AutoTokenizer.from_pretrained(weights / "splade-tiny")
sparse_model = AutoModelForMaskedLM.from_pretrained(weights / "splade-tiny").eval()


def scored(encode, query, ids):
    q = encode(texts[query])
    return [float(q @ encode(documents[i])) for i in ids]


def within_range(row):
    return [(s - min(row)) / (max(row) - min(row) + 1e-6) for s in row]


def mined(query):
    own = answers[query]
    # trec_eval's order: by score, equal ones by descending id
    found = [d for _, d in sorted(run[query], reverse=True) if d not in own][:DEPTH]
    cosines = scored(dense, query, own + found)
    limit = (1 - RELATIVE_MARGIN) * sum(cosines[: len(own)]) / len(own)
    kept = [d for d, s in zip(found, cosines[len(own) :]) if s <= limit][:NEGATIVES]
    score_of = dict(zip(own + found, cosines))
    cosines = [score_of[d] for d in own + kept]
    products = scored(sparse, query, own + kept)
    ensemble = [30 * (a + b) / 2 for a, b in zip(within_range(cosines), within_range(products))]
    return {"query": query, "answers": own, "negatives": kept, "cosines": cosines, "products": products, "ensemble": ensemble}


queries = [q for q in texts if q in run and answers[q]][:QUERIES]
golden = {
    "command": "python scripts/golden-teach.py SCIFACT WEIGHTS bm25.trec",
    "versions": {"python": platform.python_version(), "torch": torch.__version__, "transformers": transformers.__version__},
    "date": datetime.date.today().isoformat(),
    "depth": DEPTH,
    "numNegatives": NEGATIVES,
    "relativeMargin": RELATIVE_MARGIN,
    "length": LENGTH,
    "queries": [mined(q) for q in queries],
}
pathlib.Path("test/golden/teach/scifact.json").write_text(json.dumps(golden, indent=1) + "\n")
