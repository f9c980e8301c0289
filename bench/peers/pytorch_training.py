"""Training steps in PyTorch: python pytorch_training.py MODEL BATCHES VARIANT THREADS [compiled].

MODEL is a folder of lzero with a tied head, BATCHES a file that bench/train.ts writes, VARIANT a name of HEADS. Each request,
{"numBatches": 4} or {} for all, is one step over each of the first batches: forward, KL and FLOPS, backward, AdamW. The
answer has the mean time of a step.
"""

import json
import resource
import sys
import time

import safetensors.torch
import torch
from transformers import BertConfig, BertModel

from lines import serve

folder, batches_file, variant, threads, *options = sys.argv[1:]
torch.set_num_threads(int(threads))
LAMBDA, LEARNING_RATE, WEIGHT_DECAY = 1e-4, 2e-5, 0.01
SPECIAL = [0, 100, 101, 102, 103]


class Encoder(torch.nn.Module):
    """BERT and the tied head; the head's max-pool is what the variants differ in."""

    def __init__(self, head):
        super().__init__()
        tensors = {name: t.float() for name, t in safetensors.torch.load_file(f"{folder}/model.safetensors").items()}
        self.bert = BertModel(BertConfig.from_pretrained(folder), add_pooling_layer=False).eval()
        self.bert.load_state_dict({n.removeprefix("bert."): t for n, t in tensors.items() if n.startswith("bert.")})
        for name in ("scale", "input_share", "bias"):
            setattr(self, name, torch.nn.Parameter(tensors[f"lzero.tied_head.{name}"]))
        self.head = head

    def forward(self, ids, mask):
        embeddings = self.bert.embeddings.word_embeddings.weight
        hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        u = self.scale * hidden + self.input_share * embeddings[ids]
        w = self.head(u, mask.float(), embeddings, self.bias)
        return w.index_fill(1, torch.tensor(SPECIAL), 0.0)


def activate(z):
    """The l0 activation."""
    return torch.log1p(torch.log1p(torch.relu(z)))


def usual(u, mask, embeddings, bias):
    return (activate(u @ embeddings.T + bias) * mask.unsqueeze(-1)).max(dim=1).values


def repeat_first(u, mask):
    """Padding replaced by the first position, so that the max needs no pass over [B, T, V] for the mask."""
    return torch.where(mask.unsqueeze(-1).bool(), u, u[:, :1])


def max_first(u, mask, embeddings, bias):
    return activate((repeat_first(u, mask) @ embeddings.T).max(dim=1).values + bias)


def per_document(u, mask, embeddings, bias):
    pooled = [(row @ embeddings.T).max(dim=0).values for row in repeat_first(u, mask)]
    return activate(torch.stack(pooled) + bias)


def per_document_transposed(u, mask, embeddings, bias):
    pooled = [(embeddings @ row.T).max(dim=1).values for row in repeat_first(u, mask)]
    return activate(torch.stack(pooled) + bias)


HEADS = {
    "usual": usual,
    "max-first": max_first,
    "per-document": per_document,
    "per-document-transposed": per_document_transposed,
}

model = Encoder(HEADS[variant])
run = torch.compile(model) if "compiled" in options else model
optimiser = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)


def tensors_of(batch):
    q = torch.zeros(len(batch["queries"]), model.bias.numel())
    for row, query in zip(q, batch["queries"]):
        row[query["terms"]] = torch.tensor(query["weights"], dtype=torch.float32)
    return torch.tensor(batch["ids"]), q, torch.tensor(batch["teacher"], dtype=torch.float32)


batches = [tensors_of(batch) for batch in json.load(open(batches_file))]


def objective(w, q, teacher):
    groups = w.view(*teacher.shape, -1)
    scores = torch.einsum("qgv,qv->qg", groups, q)
    kl = torch.nn.functional.kl_div(scores.log_softmax(-1), teacher.softmax(-1), reduction="batchmean")
    return kl + LAMBDA * groups.abs().mean(dim=0).square().sum()


def step(ids, q, teacher):
    w = run(ids, torch.ones_like(ids))
    loss = objective(w, q, teacher)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    return float(loss.detach()), float((w > 0).sum(dim=1).float().mean())


def measure(request):
    start, cpu_start = time.perf_counter(), time.process_time()
    results = [step(*batch) for batch in batches[: request.get("numBatches")]]
    ms, cpu_ms = (1000 * t / len(results) for t in (time.perf_counter() - start, time.process_time() - cpu_start))
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loss, terms = (sum(values) / len(values) for values in zip(*results))
    return {"ms": ms, "cpuMs": cpu_ms, "loss": loss, "activeTerms": terms, "peakMemoryBytes": peak}


serve(measure)
