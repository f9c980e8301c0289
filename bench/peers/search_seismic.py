"""Seismic (pyseismic-lsr), approximate: lists cut to their best postings, blocks skipped by sketches of their documents.

    python search_seismic.py FOLDER POSTINGS FRACTION     postings kept a list on average; of one list at most times FRACTION

A setting is "query terms looked at / heap factor": more terms and a smaller factor are slower and more complete. At 0 no
block is skipped, and only what the lists have lost is missing.
"""

import sys

import numpy as np
import seismic
from search_files import Peer, serve, size_of


class Seismic(Peer):
    settings = [f"{cut}/{factor}" for cut in (4, 8, 64) for factor in (1.0, 0.8, 0.6, 0.4, 0.2, 0)]

    def build(self):
        source = self.scratch / "documents.bin"
        self.write(source)
        num_postings, fraction = int(sys.argv[2]), float(sys.argv[3])
        self.index = seismic.SeismicIndexRaw.build(str(source), n_postings=num_postings, max_fraction=fraction)
        source.unlink()
        self.index.save(str(self.scratch / "index"))
        return size_of(self.scratch)

    def write(self, path):
        """Seismic's own format: how many vectors; of each its length, terms (u32), weights (f32)."""
        offsets, terms, codes = self.documents.offsets, self.documents.terms, self.documents.codes
        with open(path, "wb") as file:
            np.array([len(self.documents)], dtype="<u4").tofile(file)
            for start, end in zip(offsets[:-1], offsets[1:]):
                length = np.array([end - start], dtype="<u4")
                vector = terms[start:end].astype("<u4").tobytes() + codes[start:end].astype("<f4").tobytes()
                file.write(length.tobytes() + vector)

    def search(self, setting, query, k):
        cut, factor = setting.split("/")
        return self.index.search(*query, k, int(cut), float(factor), 0, True)

    def unpack(self, found):
        return [doc for _, doc in found], [score for score, _ in found]


serve(Seismic)
