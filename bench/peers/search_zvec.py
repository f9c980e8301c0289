"""zvec, exact: its FLAT index of sparse vectors compares the query with every document."""

import zvec
from search_files import Peer, serve, size_of

BATCH_DOCS = 500


class Zvec(Peer):
    def prepare(self, terms, weights):
        return {int(term): float(weight) for term, weight in zip(terms, weights)}

    def build(self):
        zvec.init(query_threads=1, optimize_threads=1)
        flat = zvec.FlatIndexParam(metric_type=zvec.MetricType.IP)
        vector = zvec.VectorSchema("vector", zvec.DataType.SPARSE_VECTOR_FP32, index_param=flat)
        path = self.scratch / "collection"
        self.collection = zvec.create_and_open(str(path), zvec.CollectionSchema(name="bench", vectors=vector))
        for first in range(0, len(self.documents), BATCH_DOCS):
            docs = range(first, min(first + BATCH_DOCS, len(self.documents)))
            batch = [zvec.Doc(id=str(doc), vectors={"vector": self.prepare(*self.documents[doc])}) for doc in docs]
            for status in self.collection.insert(batch):
                if not status.ok():
                    raise RuntimeError(f"zvec refuses a document: {status}")
        self.collection.optimize()
        return size_of(path)

    def search(self, _setting, query, k):
        return self.collection.query(zvec.Query(field_name="vector", vector=query), topk=k)

    def unpack(self, found):
        return [int(doc.id) for doc in found], [doc.score for doc in found]


serve(Zvec)
