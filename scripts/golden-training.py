"""Asks PyTorch for the truth that src/train is held to: test/golden/training.

Run from the root of the repository, with `pip install torch transformers safetensors`:
    python scripts/golden-training.py

Three tiny networks (a BertForMaskedLM, and encoders with a tied and a pooled head) with random 32-bit weights; one
batch of documents of different lengths, padded. For every activation and decoupled variant, with and without the mask, and each ranking loss,
and for DF-FLOPS with query weights that are a projection of the word embeddings: the losses and the gradient of every parameter, in 64 bits, by autograd. For some of them the parameters after 20 steps of
AdamW.
"""

import datetime
import json
import math
import pathlib
import platform

import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import save_file

OUT = pathlib.Path("test/golden/training")
V, H, Q, G, LAMBDA, THRESHOLD = 64, 16, 3, 2, 0.05, 11
SPECIAL = range(5)
rng = torch.Generator().manual_seed(11)

config = transformers.BertConfig(
    vocab_size=V,
    hidden_size=H,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=24,
    max_position_embeddings=24,
    initializer_range=0.25,
)
documents = [[2, *torch.randint(5, V, (n,), generator=rng).tolist(), 3] for n in (4, 9, 1, 14, 6, 6)]
queries = [[7, 20, 33], [5, 41], [12, 20, 50, 63]]
teacher = torch.tensor([[9.0, 4.4], [5.0, 6.5], [1.5, 1.0]], dtype=torch.float64)
idf = torch.rand(V, generator=rng) * 4 + 0.5


def network(kind, rng=rng):
    """A random network and its tensors by our names."""
    torch.manual_seed({"mlm": 3, "tied": 4, "pooled": 5}[kind])
    model = transformers.BertForMaskedLM(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("bias") or "LayerNorm" in name:
                p += torch.randn(p.shape, generator=rng) * 0.1
    tensors = {name: p.detach().clone() for name, p in model.named_parameters()}
    tensors["cls.predictions.bias"] -= 1.5  # a quarter of the terms stays active
    if kind != "mlm":
        tensors = {name: t for name, t in tensors.items() if not name.startswith("cls.")}
        tensors["lzero.tied_head.bias"] = torch.randn(V, generator=rng) * 0.3 - 1.1
        tensors["lzero.tied_head.scale"] = torch.tensor([0.7])
        tensors["lzero.tied_head.input_share"] = torch.tensor([0.9])
    if kind == "pooled":
        tensors["lzero.tied_head.pooled"] = torch.randn(H, H, generator=rng) * 0.2
    return model, tensors


def pooled(model, kind, tensors, ids, mask):
    """z, [B, V]"""
    bert = {name: t for name, t in tensors.items() if name.startswith("bert.")}
    hidden = torch.func.functional_call(model.bert, {k.removeprefix("bert."): t for k, t in bert.items()}, (ids, mask))[0]
    words = tensors["bert.embeddings.word_embeddings.weight"]
    if kind == "mlm":
        head = "cls.predictions.transform"
        u = F.gelu(F.linear(hidden, tensors[f"{head}.dense.weight"], tensors[f"{head}.dense.bias"]))
        u = F.layer_norm(u, (H,), tensors[f"{head}.LayerNorm.weight"], tensors[f"{head}.LayerNorm.bias"], 1e-12)
        bias = tensors["cls.predictions.bias"]
    else:
        u = tensors["lzero.tied_head.scale"] * hidden + tensors["lzero.tied_head.input_share"] * words[ids]
        bias = tensors["lzero.tied_head.bias"]
    if kind == "pooled":
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        u = u + F.linear(mean, tensors["lzero.tied_head.pooled"])[:, None]
    logits = F.linear(u, words, bias) * mask[:, :, None]  # padded positions count as logit 0
    return logits.max(1).values


def activate(z, k):
    w = torch.relu(z)
    for _ in range(k + 1):
        w = torch.log1p(w)
    return w


def rank_loss(name, s, all_scores):
    if name == "kl":
        p = torch.log_softmax(teacher, 1)
        return (p.exp() * (p - torch.log_softmax(s, 1))).sum(1).mean()
    if name == "margin-mse":
        return F.mse_loss(s[:, :1] - s[:, 1:], teacher[:, :1] - teacher[:, 1:])
    return F.cross_entropy(all_scores, torch.arange(Q) * G)  # in-batch negatives, other positives among them


ALPHA, BETA = 0.5, 2.0
late = torch.Generator().manual_seed(12)  # of its own, so that the other cases stay what they were
projection = {"idf.weight": torch.randn(H, generator=late), "idf.bias": torch.tensor([1.0])}


def projected(leaves, words):
    """c·log(1 + relu(wᵀE + b)), E as it is at the beginning"""
    targets = idf[len(SPECIAL):].double()
    d = torch.exp(-targets / 2)
    scale = (d * targets).sum() / d.sum() / math.log(2)
    return scale * torch.log1p(torch.relu(words.double() @ leaves["idf.weight"] + leaves["idf.bias"]))


def df_weights(z):
    """1 / (1 + (x^(log_α 2) − 1)^β) of the batch's own shares, without gradient"""
    shares = (z.detach() > 0).double().mean(0)
    return 1 / (1 + (shares ** (math.log(2) / math.log(ALPHA)) - 1) ** BETA)


def losses(z, table, case):
    keep = torch.ones(V, dtype=z.dtype)
    keep[list(SPECIAL)] = 0
    z = z * keep
    w, v = activate(z, case["rank_k"]), activate(z, case["flops_k"])
    q = torch.stack([torch.zeros(V, dtype=z.dtype).index_put((torch.tensor(t),), torch.relu(table[t])) for t in queries])
    all_scores = q @ w.T
    own = torch.stack([all_scores[n, n * G : (n + 1) * G] for n in range(Q)])
    rank = rank_loss(case["loss"], own, all_scores)
    r = v.abs().view(Q, G, V)
    if case["mask"]:
        r = r * ((v > 0).sum(1) > THRESHOLD).view(Q, G, 1)
    a = r.mean(0)
    flops = ((df_weights(z) * a if case.get("regulariser") == "df-flops" else a) ** 2).sum()
    return rank + LAMBDA * flops, rank, flops


def batch():
    length = max(map(len, documents))
    ids = torch.tensor([d + [0] * (length - len(d)) for d in documents])
    mask = torch.tensor([[1.0] * len(d) + [0.0] * (length - len(d)) for d in documents], dtype=torch.float64)
    return ids, mask


VARIANTS = {"relu": (0, 0), "l0": (1, 1), "l0-2": (2, 2), "l0-3": (3, 3), "de-l0": (0, 1), "inv-de-l0": (1, 0)}
ids, mask = batch()
cases, gradients, after, models = [], {}, {}, {}


def add_cases(kind, model, tensors):
    """Every case of a network, with FLOPS and a free table."""
    model.double()
    folder = OUT / kind
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: t.contiguous() for name, t in tensors.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**config.to_diff_dict(), "model_type": "bert"}, indent=2) + "\n")
    chosen = VARIANTS if kind == "mlm" else {"l0": VARIANTS["l0"]}
    for variant, (rank_k, flops_k) in chosen.items():
        for masked in (False, True):
            for loss in ("kl", "margin-mse", "info-nce"):
                case = {"rank_k": rank_k, "flops_k": flops_k, "mask": masked, "loss": loss}
                leaves = {name: t.double().requires_grad_() for name, t in tensors.items()}
                table = idf.double().requires_grad_()
                z = pooled(model, kind, leaves, ids, mask)
                total, rank, flops = losses(z, table, case)
                total.backward()
                number = len(cases)
                for name, leaf in {**leaves, "idf": table}.items():
                    grad = leaf.grad if leaf.grad is not None else torch.zeros_like(leaf)
                    gradients[f"{number}:{name}"] = grad.float().contiguous()
                lengths = (z[:, 5:] > 0).sum(1).tolist()
                assert any(n > THRESHOLD for n in lengths) and any(n <= THRESHOLD for n in lengths), lengths
                assert z[z != 0].abs().min() > 1e-4, "a logit so near 0 that 32 bits may not agree whether it is active"
                cases.append(
                    {"network": kind, "variant": variant, "mask": masked, "loss": loss, "total": total.item(),
                     "rank": rank.item(), "flops": flops.item(), "lengths": lengths}
                )
                if variant != "l0" or not masked:
                    continue
                trained = {name: t.double().clone().requires_grad_() for name, t in tensors.items()}
                trained["idf"] = idf.double().clone().requires_grad_()
                optimiser = torch.optim.AdamW(trained.values(), lr=1e-3, weight_decay=0.01)
                for _ in range(20):
                    optimiser.zero_grad()
                    losses(pooled(model, kind, trained, ids, mask), trained["idf"], case)[0].backward()
                    optimiser.step()
                for name, t in trained.items():
                    after[f"{number}:{name}"] = t.detach().float().contiguous()


for kind in ("mlm", "tied"):
    models[kind] = network(kind)
    add_cases(kind, *models[kind])

for kind in ("mlm", "tied"):
    model, tensors = models[kind]
    case = {"rank_k": 1, "flops_k": 1, "mask": True, "loss": "kl", "regulariser": "df-flops"}
    leaves = {name: t.double().requires_grad_() for name, t in {**tensors, **projection}.items()}
    z = pooled(model, kind, leaves, ids, mask)
    total, rank, flops = losses(z, projected(leaves, tensors["bert.embeddings.word_embeddings.weight"]), case)
    total.backward()
    for name, leaf in leaves.items():
        gradients[f"{len(cases)}:{name}"] = leaf.grad.float().contiguous()
    cases.append(
        {"network": kind, "variant": "l0", "mask": True, "loss": "kl", "regulariser": "df-flops", "table": "projected",
         "total": total.item(), "rank": rank.item(), "flops": flops.item(), "lengths": (z[:, 5:] > 0).sum(1).tolist()}
    )

add_cases("pooled", *network("pooled", torch.Generator().manual_seed(13)))

save_file(gradients, OUT / "gradients.safetensors")
save_file(after, OUT / "after-20-steps.safetensors")
made = {
    "command": "python scripts/golden-training.py",
    "date": datetime.date.today().isoformat(),
    "versions": {"python": platform.python_version(), "torch": torch.__version__, "transformers": transformers.__version__},
}
facts = {"documents": documents, "queries": queries, "teacher": teacher.tolist(), "idf": idf.tolist(),
         "projection": {name: t.tolist() for name, t in projection.items()}, "dfAlpha": ALPHA, "dfBeta": BETA,
         "lambda": LAMBDA, "threshold": THRESHOLD, "specialTerms": list(SPECIAL)}
(OUT / "cases.json").write_text(json.dumps({**made, **facts, "cases": cases}, indent=1) + "\n")
for path in OUT.rglob("*.safetensors"):
    path.chmod(0o644)
print(len(cases), "cases, active terms", sorted({tuple(case["lengths"]) for case in cases}))
