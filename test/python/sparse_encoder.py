"""sentence-transformers as the other side of a comparison: test/sentence-transformers.test.ts asks, this answers.

Reads a JSON list of requests from standard input, and writes the list of answers to standard output:

    {"action": "encode", "folder", "backend", "queries", "documents", "batch": number of texts that are run together}
        loads the folder as a SparseEncoder; answers {"queries", "documents": [{id: weight}], "scores": [[number]]}
    {"action": "save", "checkpoint", "folder", "activation", "layout", "weights", "length"}
        makes a SparseEncoder of a checkpoint as its documentation does, and saves it; answers {}
    {"action": "onnx", "file", "ids", "mask"}
        runs an ONNX file in ONNX Runtime; answers {"weights": [{id: weight}]}

Needs `pip install torch transformers sentence-transformers`, for the ONNX backend `optimum[onnxruntime]` too, which may
want an older version of both, and for the last action `onnxruntime`. Fetches nothing.
"""

import json
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def terms(row):
    return {int(j): float(row[j]) for j in range(len(row)) if row[j] != 0}


def encode(request):
    from sentence_transformers import SparseEncoder

    model = SparseEncoder(request["folder"], backend=request["backend"], device="cpu")
    dense = {"convert_to_tensor": True, "convert_to_sparse_tensor": False, "show_progress_bar": False}
    dense["batch_size"] = request["batch"]
    queries = model.encode_query(request["queries"], **dense)
    documents = model.encode_document(request["documents"], **dense)
    return {
        "queries": [terms(row) for row in queries.tolist()],
        "documents": [terms(row) for row in documents.tolist()],
        "scores": model.similarity(queries, documents).tolist(),
    }


def save(request):
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import Router, SparseStaticEmbedding, SpladePooling, Transformer

    network = Transformer(
        request["checkpoint"], transformer_task="fill-mask", processor_kwargs={"model_max_length": request["length"]}
    )
    documents = [network, SpladePooling("max", activation_function=request["activation"])]
    modules = documents
    if request["layout"] == "router":
        weights = torch.tensor(request["weights"], dtype=torch.float32)
        queries = SparseStaticEmbedding(network.tokenizer, weight=weights, frozen=True)
        modules = [Router.for_query_document(query_modules=[queries], document_modules=documents)]
    SparseEncoder(modules=modules, device="cpu").save_pretrained(request["folder"])
    return {}


def onnx(request):
    import numpy
    import onnxruntime

    session = onnxruntime.InferenceSession(request["file"], providers=["CPUExecutionProvider"])
    feeds = {"input_ids": request["ids"], "attention_mask": request["mask"]}
    (rows,) = session.run(["sparse_weights"], {name: numpy.array(x, dtype=numpy.int64) for name, x in feeds.items()})
    return {"weights": [terms(row) for row in rows.tolist()]}


def main():
    actions = {"encode": encode, "save": save, "onnx": onnx}
    json.dump([actions[request["action"]](request) for request in json.load(sys.stdin)], sys.stdout)


main()
