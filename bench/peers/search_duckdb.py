"""DuckDB, exact: postings as a table ordered by term; a search is one SQL statement.

A setting is how the statement finds its postings: `join` with the query's terms, or `union` of one selection a term.
"""

import duckdb
import numpy as np
from search_files import Peer, serve

CHUNK_POSTINGS = 10_000_000


class DuckDb(Peer):
    settings = ["join", "union"]

    def prepare(self, terms, weights):
        return list(zip(terms.tolist(), weights.tolist()))

    def build(self):
        starts, docs, codes = self.documents.inverted()
        terms = np.repeat(np.arange(len(starts) - 1, dtype=np.uint16), np.diff(starts))
        path = self.scratch / "postings.duckdb"
        self.connection = duckdb.connect(str(path), config={"threads": 1})
        self.connection.execute("CREATE TABLE postings (term USMALLINT, doc UINTEGER, code UTINYINT)")
        for first in range(0, len(docs), CHUNK_POSTINGS):
            part = slice(first, first + CHUNK_POSTINGS)
            chunk = {"term": terms[part], "doc": docs[part].astype(np.uint32), "code": codes[part]}  # named in the SQL
            self.connection.execute("INSERT INTO postings SELECT term, doc, code FROM chunk")
        self.connection.execute("CHECKPOINT")
        return path.stat().st_size

    def search(self, setting, query, k):
        if setting == "join":
            pairs = ", ".join(f"({term}, {weight})" for term, weight in query)
            terms = ", ".join(str(term) for term, _ in query)
            products = f"""SELECT doc, code::INTEGER * weight AS product
                FROM postings JOIN (VALUES {pairs}) AS query (term, weight) USING (term) WHERE term IN ({terms})"""
        else:
            selections = (f"SELECT doc, code::INTEGER * {w} AS product FROM postings WHERE term = {t}" for t, w in query)
            products = " UNION ALL ".join(selections)
        return self.connection.execute(
            f"SELECT doc, sum(product) AS score FROM ({products}) GROUP BY doc ORDER BY score DESC, doc LIMIT {k}"
        ).fetchnumpy()

    def unpack(self, found):
        return found["doc"], found["score"]


serve(DuckDb)
