"""Asks sentence-transformers for the truth that dense encoders are held to.

Writes two folders as SentenceTransformer saves them, made of the tiny weights of test/golden/models (golden-models.py
must have run before), and what they make of texts of our own (test/golden/dense/expected.json):

    mean    BertModel, mean pooling, Normalize; prompts for both sides, 16 tokens
    cls     DistilBertModel, the state of [CLS], not normalised

Run from the root of the repository, with `pip install torch transformers sentence-transformers`:
    python scripts/golden-dense.py
"""

import datetime
import json
import os
import pathlib
import platform
import shutil

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import sentence_transformers
import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

MODELS = pathlib.Path("test/golden/models")
OUT = pathlib.Path("test/golden/dense")


def save(name, checkpoint, pooling, normalise, prompts, length):
    network = Transformer(str(MODELS / checkpoint), max_seq_length=length)
    modules = [network, Pooling(network.get_embedding_dimension(), pooling_mode=pooling)]
    if normalise:
        modules.append(Normalize())
    shutil.rmtree(OUT / name, ignore_errors=True)
    SentenceTransformer(modules=modules, prompts=prompts, device="cpu").save_pretrained(str(OUT / name), create_model_card=False)
    return SentenceTransformer(str(OUT / name), device="cpu")


def expected(name, texts, *settings):
    model = save(name, *settings)
    with torch.no_grad():
        queries = model.encode_query(texts, batch_size=1)
        documents = model.encode_document(texts, batch_size=1)
    return {"name": name, "queries": queries.tolist(), "documents": documents.tolist()}


texts = json.loads((MODELS / "expected.json").read_text())["texts"]
golden = {
    "command": "python scripts/golden-dense.py",
    "versions": {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "sentence-transformers": sentence_transformers.__version__,
    },
    "date": datetime.date.today().isoformat(),
    "texts": texts,
    "models": [
        expected("mean", texts, "bert", "mean", True, {"query": "the river: ", "document": "old city "}, 16),
        expected("cls", texts, "distilbert", "cls", False, {}, 32),
    ],
}
(OUT / "expected.json").write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n")
