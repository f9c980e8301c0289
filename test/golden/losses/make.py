"""Asks PyTorch for the truth that src/losses and the slopes of activations are held to: test/golden/losses/losses.json.

Run from the root of the repository, with `pip install torch sentence-transformers`:
    python test/golden/losses/make.py

Inputs are 32-bit floats, everything after them is 64-bit, gradients are autograd's. Where sentence-transformers has the
same loss, it must give the same value, or nothing is written.
"""

import datetime
import json
import math
import platform

import sentence_transformers
import torch
import torch.nn.functional as F
from sentence_transformers.sparse_encoder import losses as st

OUT = "test/golden/losses/losses.json"
rng = torch.Generator().manual_seed(6)


def floats(*shape, scale=1.0, shift=0.0):
    """Numbers that are 32-bit floats, in 64 bits."""
    return (torch.randn(*shape, generator=rng) * scale + shift).float().double()


def weights(rows, cols, share):
    """Term weights: never negative, about `share` of them not 0, rows of different length."""
    shares = share * 2 * torch.rand(rows, 1, generator=rng)
    return floats(rows, cols).abs() * (torch.rand(rows, cols, generator=rng) < shares)


def with_gradient(loss_of, *inputs):
    """The loss, and its gradient by each input."""
    leaves = [x.clone().requires_grad_() for x in inputs]
    loss = loss_of(*leaves)
    return loss.item(), [g.tolist() for g in torch.autograd.grad(loss, leaves)]


def agree(ours, theirs):
    assert abs(ours - float(theirs)) <= 1e-12 * max(1, abs(ours)), (ours, float(theirs))


def masked(w, groups, threshold):
    """|w| as [Q, G, V], documents of at most so many terms at 0."""
    r = w.abs().reshape(-1, groups, w.shape[1])
    return r if threshold is None else r * ((r != 0).sum(dim=2, keepdim=True) > threshold)


def flops(w, groups, threshold):
    """The formula of the paper's code."""
    return (masked(w, groups, threshold).mean(dim=0) ** 2).sum()


def flops_case(q, g, v, grouping, threshold):
    w = weights(q * g, v, 0.4)
    groups = g if grouping == "by-position" else 1
    loss, [dw] = with_gradient(lambda x: flops(x, groups, threshold), w)
    if groups == 1:
        agree(loss, st.FlopsLoss(None, threshold=threshold).compute_loss_from_embeddings(w))
    return {"numQueries": q, "docsPerQuery": g, "grouping": grouping, "threshold": threshold,
            "w": w.tolist(), "loss": loss, "dW": dw}


def df_flops_case(q, g, v, grouping, threshold, alpha, beta):
    """FLOPS with a weight for each term by the share of documents that have it, inside the square."""
    w = weights(q * g, v, 0.4)
    shares = (torch.rand(v, generator=rng) ** 3).double()
    shares[:2] = torch.tensor([0.0, 1.0])
    c = 1 / (1 + (shares ** (math.log(2) / math.log(alpha)) - 1) ** beta)
    loss, [dw] = with_gradient(
        lambda x: (c**2 * (masked(x, g if grouping == "by-position" else 1, threshold).mean(dim=0) ** 2)).sum(), w
    )
    return {"numQueries": q, "docsPerQuery": g, "grouping": grouping, "threshold": threshold, "alpha": alpha,
            "beta": beta, "documentShares": shares.tolist(), "w": w.tolist(), "loss": loss, "dW": dw}


def l1_case(b, v):
    w = weights(b, v, 0.4)
    loss, [dw] = with_gradient(lambda x: x.abs().sum(dim=1).mean(), w)
    return {"w": w.tolist(), "loss": loss, "dW": dw}


def columns(scores):
    """Embeddings that have the given scores [Q, G] as inner products, for losses that want embeddings."""
    return [torch.ones(scores.shape[0], 1, dtype=torch.float64)] + [scores[:, [g]] for g in range(scores.shape[1])]


def kl_case(q, g, temperature, teacher_temperature, scale):
    s, t = floats(q, g, scale=scale, shift=5), floats(q, g, scale=scale, shift=-3)

    def kl(x):
        student = F.log_softmax(x / temperature, dim=1)
        return F.kl_div(student, F.softmax(t / teacher_temperature, dim=1), reduction="batchmean")

    loss, [ds] = with_gradient(kl, s)
    if g > 1:
        theirs = st.SparseDistillKLDivLoss(
            None, temperature=temperature, teacher_temperature=teacher_temperature
        ).compute_loss_from_embeddings(columns(s), t)
        agree(loss, theirs / temperature**2)
    return {"temperature": temperature, "teacherTemperature": teacher_temperature,
            "scores": s.tolist(), "teacher": t.tolist(), "loss": loss, "dScores": ds}


def margin_mse_case(q, g, scale):
    s, t = floats(q, g, scale=scale), floats(q, g, scale=scale)
    loss, [ds] = with_gradient(lambda x: F.mse_loss(x[:, :1] - x[:, 1:], t[:, :1] - t[:, 1:]), s)
    agree(loss, st.SparseMarginMSELoss(None).compute_loss_from_embeddings(columns(s), t))
    return {"scores": s.tolist(), "teacher": t.tolist(), "loss": loss, "dScores": ds}


def info_nce_case(q, g, in_batch, other_positives, temperature, scale):
    s = floats(q, q * g if in_batch else g, scale=scale)
    target = torch.arange(q) * g if in_batch else torch.zeros(q, dtype=torch.long)
    left_out = torch.zeros(s.shape, dtype=torch.bool)
    if in_batch and not other_positives:
        left_out[:, ::g] = True
        left_out[torch.arange(q), target] = False
    loss, [ds] = with_gradient(
        lambda x: F.cross_entropy((x / temperature).masked_fill(left_out, -torch.inf), target), s
    )
    return {"inBatchNegatives": in_batch, "otherPositives": other_positives, "temperature": temperature,
            "scores": s.tolist(), "loss": loss, "dScores": ds}


def scores_case(q, g, v, candidates):
    """Scores, and what comes back to documents and to a learnable IDF from a KL on them."""
    w = weights(q * g, v, 0.4)
    idf = floats(v, scale=3).abs()
    terms = [sorted(torch.randperm(v, generator=rng)[: 1 + n % 4].tolist()) for n in range(q)]
    present = torch.zeros(q, v, dtype=torch.float64)
    for n, ids in enumerate(terms):
        present[n, ids] = 1

    def scores(documents, table):
        queries = present * F.relu(table)
        if candidates == "batch":
            return queries @ documents.T
        return (documents.reshape(q, g, v) @ queries.unsqueeze(2)).squeeze(2)

    teacher = floats(*scores(w, idf).shape, scale=3)

    def loss_of(documents, table):
        return F.kl_div(F.log_softmax(scores(documents, table), 1), F.softmax(teacher, 1), reduction="batchmean")

    loss, [dw, didf] = with_gradient(loss_of, w, idf)
    if candidates == "batch":
        embeddings = [present * idf, w[::g]] + [w[i::g] for i in range(1, g)]
        ours = F.cross_entropy(scores(w, idf), torch.arange(q) * g)
        theirs = st.SparseMultipleNegativesRankingLoss(None, scale=1).compute_loss_from_embeddings(embeddings, None)
        agree(ours.item(), theirs)  # InfoNCE with other positives: the same candidates in another order
    return {"candidates": candidates, "w": w.tolist(), "idf": idf.tolist(), "terms": terms, "teacher": teacher.tolist(),
            "scores": scores(w, idf).tolist(), "loss": loss, "dW": dw, "dIdf": didf}


def activation_case(k):
    z = torch.cat([floats(40, scale=4), torch.tensor([0.0, -1.0, 1e-6, 40.0, 1e4], dtype=torch.float32).double()])

    def act(x):
        y = F.relu(x)
        for _ in range(k + 1):
            y = torch.log1p(y)
        return y

    _, [slope] = with_gradient(lambda x: act(x).sum(), z)
    return {"k": k, "z": z.tolist(), "w": act(z).tolist(), "slope": slope}


shapes = [(1, 1, 7), (1, 3, 11), (4, 1, 16), (3, 2, 20), (5, 4, 30)]
lists = [(1, 1), (1, 4), (3, 2), (6, 5)]
regularisers = [(grouping, t) for grouping in ("by-position", "none") for t in (None, 4, 100)]
temperatures = [(1.0, 1.0, 3.0), (2.0, 2.0, 3.0), (2.0, 0.5, 1.0), (1.0, 1.0, 80.0)]
negatives = [(False, False, 1.0, 3.0), (True, False, 1.0, 3.0), (True, True, 1.0, 3.0), (True, True, 0.5, 100.0)]
document = {
    "made by": "python test/golden/losses/make.py",
    "date": datetime.date.today().isoformat(),
    "versions": {
        "torch": torch.__version__,
        "sentence-transformers": sentence_transformers.__version__,
        "python": platform.python_version(),
    },
    "flops": [flops_case(*shape, *rest) for shape in shapes for rest in regularisers],
    "l1": [l1_case(b, v) for b, v in [(1, 5), (6, 20)]],
    "kl": [kl_case(*shape, *rest) for shape in lists for rest in temperatures],
    "marginMse": [margin_mse_case(q, g, scale) for q, g in lists if g > 1 for scale in (1.0, 50.0)],
    "infoNce": [info_nce_case(*shape, *rest) for shape in lists for rest in negatives],
    "scores": [scores_case(*shape, candidates) for shape in shapes for candidates in ("own", "batch")],
    "activations": [activation_case(k) for k in range(4)],
    # last, so that the random numbers of the others stay what they were
    "dfFlops": [
        df_flops_case(*shape, *rest, *weight)
        for shape in shapes[1::2]
        for rest in regularisers
        for weight in ((0.1, 10.0), (0.5, 2.0))
    ],
}
with open(OUT, "w", encoding="utf-8") as file:
    lines = (f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in document.items())
    file.write("{\n" + ",\n".join(lines) + "\n}\n")
