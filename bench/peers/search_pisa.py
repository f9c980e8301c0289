"""PISA (pyterrier-pisa), exact: impacts as frequencies, scored as they are. A setting is an algorithm.

The inverted lists are written as PISA's own input (pyterrier's indexer takes Python dictionaries and would take hours);
the bounds and the compressed index are PISA's work. Through this binding a query's weight is how often the term is
repeated; collecting the repetitions and naming the documents found is part of the time, some 20 µs a query.
"""

import time

import numpy as np
from pyterrier_pisa import _pisathon
from search_files import Peer, serve

ENCODING = "block_simdbp"
BLOCK_SIZE = 64


class TimedQueries:
    """Queries that note when PISA asks for the next."""

    def __init__(self, queries):
        self.queries, self.times = queries, []

    def __len__(self):
        return len(self.queries)

    def __iter__(self):
        for i, query in enumerate(self.queries):
            self.times.append(time.perf_counter_ns())
            yield (i, query)
        self.times.append(time.perf_counter_ns())


def name(term):
    """Sorts like the number: PISA looks terms up in a sorted list."""
    return f"{term:05d}"


class Pisa(Peer):
    settings = ["maxscore", "block_max_maxscore", "block_max_wand", "wand"]

    def prepare(self, terms, weights):
        return {name(term): float(weight) for term, weight in zip(terms, weights)}

    def build(self):
        self.write_lists(self.scratch)
        self.context = _pisathon.RetrievalContext()
        _pisathon.prepare_index(self.context, str(self.scratch), ENCODING, "quantized", "", block_size=BLOCK_SIZE)
        return sum(path.stat().st_size for path in self.scratch.glob("quantized.*"))

    def write_lists(self, folder):
        starts, docs, codes = self.documents.inverted()
        terms = np.flatnonzero(np.diff(starts))
        with open(folder / "inv.docs", "wb") as docs_file, open(folder / "inv.freqs", "wb") as codes_file:
            np.array([1, len(self.documents)], dtype="<u4").tofile(docs_file)
            for term in terms:
                part = slice(starts[term], starts[term + 1])
                length = np.array([part.stop - part.start], dtype="<u4")
                for file, numbers in ((docs_file, docs), (codes_file, codes)):
                    length.tofile(file)
                    numbers[part].astype("<u4").tofile(file)
        lengths = np.diff(self.documents.offsets)  # must be there, is not looked at when impacts are scored as they are
        np.concatenate([[len(lengths)], lengths]).astype("<u4").tofile(folder / "inv.sizes")
        (folder / "fwd.terms").write_text("".join(f"{name(term)}\n" for term in terms))
        (folder / "fwd.documents").write_text("".join(f"{doc}\n" for doc in range(len(self.documents))))
        for source, lexicon in (("fwd.terms", "fwd.termlex"), ("fwd.documents", "fwd.doclex")):
            _pisathon.build_binlex(str(folder / source), str(folder / lexicon))
        (folder / "pt_meta.json").write_text('{"type": "sparse_index", "format": "pisa", "stemmer": "none"}')

    def run(self, setting, num_queries, k):
        queries = TimedQueries(self.queries[:num_queries])
        size = num_queries * k
        rows, ranks = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
        names, scores = np.empty(size, dtype=object), np.empty(size, dtype=np.float32)
        count = _pisathon.retrieve(
            self.context,
            setting,
            queries,
            k=k,
            threads=1,
            query_weighted=1,
            pretokenised=True,
            result_qidxs=rows,
            result_docnos=names,
            result_ranks=ranks,
            result_scores=scores,
        )
        ends = np.searchsorted(rows[:count], np.arange(num_queries + 1))
        found = [
            (names[start:end].astype(np.int32), scores[start:end]) for start, end in zip(ends[:-1], ends[1:])
        ]
        return found, (np.diff(queries.times) / 1000).tolist()


serve(Pisa)
