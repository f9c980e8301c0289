"""Asks pytrec_eval (trec_eval's own C code, from Python) for the truth that src/eval is held to.

Run from the root of the repository, with `pip install pytrec-eval-terrier`:
    python scripts/golden-metrics.py             writes test/golden/eval/metrics.json: random small runs and their values
    python scripts/golden-metrics.py --answer    reads one case a line from standard input, writes its values a line:
                                                 src/eval/trec-eval.test.ts asks so for more runs than a file should hold

A case is {"level": n, "qrels": {query: {document: relevance}}, "run": {query: {document: score}}}; its values are
{query: [one per name in METRICS]} of the queries that have both. trec_eval reads outside of its memory where a query
has negative judgements only, so every query of ours has one of 0 or more.
"""

import datetime
import json
import platform
import random
import sys

import pytrec_eval

OUT = "test/golden/eval/metrics.json"
ASKED = {"ndcg", "ndcg_cut.1,3,10", "recip_rank", "map", "map_cut.1,3,10", "recall.1,3,10", "P.1,3,10", "success.1,3,10"}
METRICS = ["ndcg", "ndcg_cut_1", "ndcg_cut_3", "ndcg_cut_10", "recip_rank", "map", "map_cut_1", "map_cut_3", "map_cut_10",
           "recall_1", "recall_3", "recall_10", "P_1", "P_3", "P_10", "success_1", "success_3", "success_10"]
DOCUMENTS = ["a", "b", "A", "d10", "d9", "d1", "é", "日本", "\U0001f600", "\ufffd", "zz", "z", "-", "0", "10", "2"]
# Ties, ties of 32-bit floats only, and scores apart.
SCORES = [0.0, -1.5, 1.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-6, 2.0, 3.0000001, 3.0, 1e30, 1e-30]


def case(rng):
    queries = [f"q{i}" for i in range(rng.randint(1, 3))]
    qrels, run = {}, {}
    for query in queries:
        judged = rng.sample(DOCUMENTS, rng.randint(1, 8))
        relevance = [rng.choice([-2, -1, 0, 0, 1, 1, 2, 3]) for _ in judged]
        qrels[query] = dict(zip(judged, [max(0, relevance[0])] + relevance[1:]))
        found = rng.sample(DOCUMENTS, rng.randint(1, 14))
        run[query] = {document: rng.choice(SCORES) for document in found}
    if len(queries) > 1 and rng.random() < 0.3:
        del run[queries[0]]
    if len(queries) > 1 and rng.random() < 0.3:
        del qrels[queries[-1]]
    return {"level": rng.choice([1, 1, 2]), "qrels": qrels, "run": run}


def values(case):
    oracle = pytrec_eval.RelevanceEvaluator(case["qrels"], ASKED, relevance_level=case["level"])
    return {query: [found[name] for name in METRICS] for query, found in oracle.evaluate(case["run"]).items()}


def answer():
    for line in sys.stdin:
        print(json.dumps(values(json.loads(line))), flush=True)


def write_golden():
    rng = random.Random(4)
    cases = [case(rng) for _ in range(200)]
    head = {
        "made by": "python scripts/golden-metrics.py",
        "date": datetime.date.today().isoformat(),
        "versions": {"pytrec-eval-terrier": pytrec_eval.__version__, "python": platform.python_version()},
        "metrics": METRICS,
    }
    lines = ",\n".join(json.dumps({**c, "values": values(c)}, ensure_ascii=False, separators=(",", ":")) for c in cases)
    with open(OUT, "w", encoding="utf-8") as file:
        file.write(json.dumps(head, indent=0)[:-2] + ',\n"cases": [\n' + lines + "\n]}\n")


answer() if "--answer" in sys.argv else write_golden()
