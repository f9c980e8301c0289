"""Document vectors with PyTorch: python pytorch_batches.py MODEL, MODEL a folder of lzero with a tied head.

Requests: {"ids": FILE, "variant": a name of HEADS, "threads": 2}. Dense weights [B, V] end the
clock; lzero's time includes making sparse vectors of them.
"""

import json
import sys
import time

import safetensors.torch
import torch
from transformers import BertConfig, BertModel

from lines import serve

folder = sys.argv[1]
k = ["relu", "l0", "l0-2", "l0-3"].index(json.load(open(f"{folder}/lzero.json"))["activation"])
tensors = safetensors.torch.load_file(f"{folder}/model.safetensors")
scale, input_share, bias = (tensors[f"lzero.tied_head.{name}"].float() for name in ("scale", "input_share", "bias"))
model = BertModel(BertConfig.from_pretrained(folder), add_pooling_layer=False).eval()
weights = {name.removeprefix("bert."): tensor.float() for name, tensor in tensors.items() if name.startswith("bert.")}
model.load_state_dict(weights)
embeddings = model.embeddings.word_embeddings.weight
SPECIAL = [0, 100, 101, 102, 103]


def activate(z):
    w = torch.relu(z)
    for _ in range(k + 1):
        w = torch.log1p(w)
    return w


def usual(u, mask):
    logits = u @ embeddings.T + bias
    return (activate(logits) * mask.unsqueeze(-1)).amax(dim=1)


def repeat_first(u, mask):
    """Padding replaced by the first position, so that the max needs no pass over [B, T, V] for the mask."""
    return torch.where(mask.unsqueeze(-1).bool(), u, u[:, :1])


def max_first(u, mask):
    return activate((repeat_first(u, mask) @ embeddings.T).amax(dim=1) + bias)


def per_document(u, mask):
    return activate(torch.stack([(row @ embeddings.T).amax(dim=0) for row in repeat_first(u, mask)]) + bias)


def per_document_transposed(u, mask):
    return activate(torch.stack([(embeddings @ row.T).amax(dim=1) for row in repeat_first(u, mask)]) + bias)


HEADS = {
    "usual": usual,
    "max-first": max_first,
    "per-document": per_document,
    "per-document-transposed": per_document_transposed,
}


@torch.inference_mode()
def encode(ids, mask, head):
    hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    w = head(scale * hidden + input_share * embeddings[ids], mask.float())
    w[:, SPECIAL] = 0
    return w


def measure(request):
    torch.set_num_threads(request["threads"])
    head = HEADS[request["variant"]]
    batches = [torch.tensor(batch) for batch in json.load(open(request["ids"]))]
    masks = [torch.ones_like(ids) for ids in batches]
    start = time.perf_counter()
    vectors = [encode(ids, mask, head) for ids, mask in zip(batches, masks)]
    ms = 1000 * (time.perf_counter() - start)
    return {"ms": ms, "activeTerms": float(torch.cat(vectors).gt(0).sum(dim=1).float().mean())}


serve(measure)
