"""splade-index, exact: every posting of every term added into one table, with NumPy or compiled by Numba.

It takes texts and a model; given vectors, its lists are filled in as its `index` fills them. A query's search is its
`retrieve` without encoding.
"""

import numpy as np
import splade_index
from search_files import Peer, serve
from splade_index.numba.retrieve_utils import _retrieve_numba_functional


class SpladeIndex(Peer):
    settings = ["numba", "numpy"]

    def __init__(self, folder):
        super().__init__(folder)
        # Compiles, on one posting: that is no part of building.
        self.fill(np.array([0, 1], dtype=np.int32), np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.uint8), num_docs=1)
        self.search("numba", (np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.float32)), 1)

    def build(self):
        starts, docs, codes = self.documents.inverted()
        self.fill(starts, docs, codes, num_docs=len(self.documents))
        return sum(self.index.scores[name].nbytes for name in ("data", "indices", "indptr"))

    def fill(self, starts, docs, codes, num_docs):
        self.index = splade_index.SPLADE()
        self.index.scores = {"data": codes.astype(np.float32), "indices": docs, "indptr": starts, "num_docs": num_docs}
        self.index.unique_token_ids_set = set(np.flatnonzero(np.diff(starts)).tolist())

    def search(self, setting, query, k):
        terms, weights = query
        if setting == "numpy":
            scores, docs = self.index._get_top_k_results(terms, weights, k=k, backend="numpy", sorted=True)
            return docs, scores
        docs, scores = _retrieve_numba_functional(
            query_tokens_ids=[terms],
            query_tokens_weights=[weights],
            scores=self.index.scores,
            k=k,
            sorted=True,
            show_progress=False,
        )
        return docs[0], scores[0]

    def unpack(self, found):
        docs, scores = found
        return docs[scores > 0], scores[scores > 0]


serve(SpladeIndex)
