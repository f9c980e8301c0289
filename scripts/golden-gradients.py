"""Asks PyTorch for the gradients that src/graph is held to.

Writes test/golden/graph/operators.json: for each operator inputs, output y, a seed dy, and the gradients of Σ dy·y; and
test/golden/graph/encoder.json: the gradients of every parameter of the golden model `untied` (2 layers of 16, MLM
transform included) for a padded batch, given a seed for each position.

Run from the root of the repository, with `pip install torch transformers`:
    python scripts/golden-gradients.py

Operators are computed in float64 on inputs that float32 holds exactly; the encoder in float32, eager attention.
"""

import base64
import datetime
import json
import pathlib
import platform

import torch
import torch.nn.functional as F
import transformers
from transformers import BertForMaskedLM

OUT = pathlib.Path("test/golden/graph")
MODEL = "test/golden/model/untied"
HEADER = {
    "command": "python scripts/golden-gradients.py",
    "versions": {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    },
    "date": datetime.date.today().isoformat(),
}


def random(*shape, low=-2.0, high=2.0):
    """Values with few bits: sums and differences of them are exact."""
    return (torch.rand(*shape, dtype=torch.float64) * (high - low) + low).mul(64).round().div(64)


def operator_cases():
    keep = torch.tensor([[1, 0, 1, 1], [0, 1, 1, 0]])
    return {
        "linear": ({"x": random(3, 4), "w": random(5, 4), "b": random(5)}, lambda x, w, b: F.linear(x, w, b)),
        "linear without bias": ({"x": random(3, 4), "w": random(5, 4)}, F.linear),
        "matMul": ({"x": random(2, 3, 4), "y": random(2, 4, 5)}, torch.matmul),
        "matMul, one matrix for many": ({"x": random(3, 4), "y": random(2, 2, 4, 5)}, torch.matmul),
        "matMul, both repeated": ({"x": random(2, 1, 3, 4), "y": random(3, 4, 2)}, torch.matmul),
        "add": ({"x": random(2, 3, 4), "y": random(3, 1)}, torch.add),
        "add of a scalar": ({"x": random(3, 4), "y": random(1)}, torch.add),
        "subtract": ({"x": random(3, 1), "y": random(2, 3, 4)}, torch.sub),
        "multiply": ({"x": random(2, 3, 4), "y": random(2, 1, 4)}, torch.mul),
        "multiply with itself": ({"x": random(3, 4)}, lambda x: x * x),
        "relu": ({"x": random(3, 5)}, F.relu),
        "log": ({"x": random(3, 4, low=0.25, high=3)}, torch.log),
        "gelu": ({"x": random(3, 6, low=-4, high=4)}, F.gelu),
        "gelu by tanh": ({"x": random(3, 6, low=-4, high=4)}, lambda x: F.gelu(x, approximate="tanh")),
        "layerNorm": (
            {"x": random(3, 6), "gamma": random(6), "beta": random(6)},
            lambda x, gamma, beta: F.layer_norm(x, (6,), gamma, beta, 1e-3),
        ),
        "layerNorm of three dimensions": (
            {"x": random(2, 3, 5), "gamma": random(5), "beta": random(5)},
            lambda x, gamma, beta: F.layer_norm(x, (5,), gamma, beta, 1e-12),
        ),
        "softmax": ({"x": random(2, 3, 5)}, lambda x: F.softmax(x, -1)),
        "reshape": ({"x": random(2, 6)}, lambda x: x.reshape(3, 4)),
        "transpose": ({"x": random(2, 3, 4)}, lambda x: x.permute(1, 2, 0)),
        "unsqueeze": ({"x": random(2, 3)}, lambda x: x[None, :, None, :]),
        "concat": ({"x": random(2, 3), "y": random(3, 3)}, lambda x, y: torch.cat([x, y])),
        "firstRows": ({"x": random(5, 3)}, lambda x: x[:2]),
        "max": ({"x": random(3, 4)}, lambda x: x.amax(1)),
        "max of equals": ({"x": torch.tensor([[1.0, 2, 2], [3, 3, 3]], dtype=torch.float64)}, lambda x: x.amax(1)),
        "min": ({"x": random(3, 4)}, lambda x: x.amin(0)),
        "norm": ({"x": random(3, 4)}, lambda x: x.norm(dim=1)),
        "sum": ({"x": random(2, 3, 4)}, lambda x: x.sum(1)),
        "mean": ({"x": random(2, 3, 4)}, lambda x: x.mean(0)),
        "dropout": ({"x": random(2, 4)}, lambda x: x * keep / (1 - 0.25)),
    }


def tensor(x):
    return {"dims": list(x.shape), "values": x.flatten().tolist()}


def operators():
    torch.manual_seed(5)
    cases = []
    for name, (inputs, f) in operator_cases().items():
        leaves = {key: value.clone().requires_grad_() for key, value in inputs.items()}
        y = f(*leaves.values())
        dy = random(*y.shape)
        y.backward(dy)
        cases.append(
            {
                "name": name,
                "inputs": {key: tensor(value) for key, value in inputs.items()},
                "y": tensor(y.detach()),
                "dy": tensor(dy),
                "gradients": {key: tensor(leaf.grad) for key, leaf in leaves.items()},
            }
        )
    return cases


def packed(x):
    return {"dims": list(x.shape), "float32": base64.b64encode(x.detach().float().numpy().tobytes()).decode()}


def encoder():
    torch.manual_seed(6)
    model = BertForMaskedLM.from_pretrained(MODEL, attn_implementation="eager", dtype=torch.float32).eval()
    lengths, num_tokens = [7, 3, 5], 7
    ids = torch.randint(104, model.config.vocab_size, (len(lengths), num_tokens))
    ids[1, 1] = ids[0, 2]  # a term twice: its rows are summed
    mask = torch.tensor([[1 if i < n else 0 for i in range(num_tokens)] for n in lengths])
    hidden = model.bert(input_ids=ids, attention_mask=mask).last_hidden_state
    u = model.cls.predictions.transform(hidden)
    du = torch.randn_like(u)
    u.backward(du)
    gradients = {name: packed(p.grad) for name, p in model.named_parameters() if p.grad is not None}
    return {"ids": ids.tolist(), "lengths": lengths, "u": packed(u), "du": packed(du), "gradients": gradients}


def write(name, value):
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / name).write_text(json.dumps({**HEADER, **value}, separators=(",", ":")) + "\n")


write("operators.json", {"cases": operators()})
write("encoder.json", encoder())
