"""Asks PyTorch for the truth that AdamW in src/kernels is held to: test/golden/kernels/adamw.json.

Run from the root of the repository, with `pip install torch`:
    python scripts/golden-kernels.py

Twenty steps each, over gradients of very different size, zeros among them. Numbers are float32, written in full.
"""

import datetime
import json
import os
import platform

import torch

OUT = "test/golden/kernels/adamw.json"
NUM_WEIGHTS = 37
NUM_STEPS = 20
# Settings as a user writes them; the learning rate rises over `warmUp` steps.
CASES = [
    {"learningRate": 1e-3, "weightDecay": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "warmUp": 1},
    {"learningRate": 2e-5, "weightDecay": 0.0, "beta1": 0.9, "beta2": 0.98, "epsilon": 1e-6, "warmUp": 10},
    {"learningRate": 0.1, "weightDecay": 0.3, "beta1": 0.7, "beta2": 0.9, "epsilon": 1e-3, "warmUp": 1},
]


def gradients(generator):
    """Sizes from 1e-12 to 1e6, a fifth of them zeros: rows of embeddings that no document has."""
    size = 10 ** torch.randint(-12, 7, (NUM_WEIGHTS,), generator=generator).float()
    values = torch.randn(NUM_STEPS, NUM_WEIGHTS, generator=generator) * size
    return torch.where(torch.rand(values.shape, generator=generator) < 0.2, torch.zeros(()), values)


def case(settings, generator):
    start = torch.randn(NUM_WEIGHTS, generator=generator)
    steps = gradients(generator)
    weights = torch.nn.Parameter(start.clone())
    optimizer = torch.optim.AdamW(
        [weights], lr=settings["learningRate"], betas=(settings["beta1"], settings["beta2"]),
        eps=settings["epsilon"], weight_decay=settings["weightDecay"])
    after = []
    for step, gradient in enumerate(steps, start=1):
        optimizer.param_groups[0]["lr"] = settings["learningRate"] * min(1, step / settings["warmUp"])
        weights.grad = gradient
        optimizer.step()
        after.append(weights.detach().tolist())
    state = optimizer.state[weights]
    return {**settings, "start": start.tolist(), "gradients": steps.tolist(), "weights": after,
            "moments": state["exp_avg"].tolist(), "variances": state["exp_avg_sq"].tolist()}


generator = torch.Generator().manual_seed(6)
cases = [case(settings, generator) for settings in CASES]
head = {
    "made by": "python scripts/golden-kernels.py",
    "versions": {"python": platform.python_version(), "torch": torch.__version__},
    "date": datetime.date.today().isoformat(),
}
os.makedirs(os.path.dirname(OUT), exist_ok=True)
with open(OUT, "w") as file:
    json.dump({**head, "cases": cases}, file, indent=None, separators=(",", ":"))
    file.write("\n")
