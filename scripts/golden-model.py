"""Asks Hugging Face transformers for the truth that src/model is held to.

Writes three tiny, randomly initialised BERTs with MLM head (test/golden/model/<name>/) and what transformers makes of
texts of our own (test/golden/model/vectors.json):

    z[j] = max over real positions of logits[i, j]           logits in float32, eager attention, one text at a time
    w[j] = log1p applied k + 1 times to relu(z[j])           in float64, on the float32 logit
    special tokens are left out; terms with w = 0 are not written

Run from the root of the repository, with `pip install torch transformers`:
    python scripts/golden-model.py               the tiny models
    python scripts/golden-model.py --real DIR    test/golden/model/real.json, from the bert-base-uncased folder DIR

Logits nearer to 0 than 2e-5 are refused, so that float32's rounding cannot decide whether a term is active.
"""

import argparse
import datetime
import json
import math
import pathlib
import platform
import shutil
import sys

import safetensors.torch
import tokenizers
import torch
import transformers
from tokenizers.implementations import BertWordPieceTokenizer
from transformers import BertConfig, BertForMaskedLM

OUT = pathlib.Path("test/golden/model")
SPECIALS = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]", 103: "[MASK]"}
WORDS = """the a of and in is on to it was for with as by at from water river stone boat harbour winter snow wind cloud
bread salt honey garden apple tree leaf root seed bird song night lamp book letter paper ink king queen tower bridge wall
city road horse wheel iron copper glass mirror clock bell fire smoke ash rain storm island whale net rope sail map star
moon sun light shadow cold warm small large old new red blue green white slow quick read write sing build carry break
find keep lost open count measure""".split()
PIECES = [chr(c) for c in range(ord("a"), ord("z") + 1)]
OTHERS = list("0123456789.,?!-") + ["水", "山", "ж", "д", "##д", "ß", "##s", "##ing", "##ed", "##er", "##ly"]

MODELS = [
    {"name": "tied", "seed": 11, "heads": 4, "layers": 2, "hidden": 24, "inner": 40, "positions": 512},
    {"name": "half", "seed": 12, "heads": 2, "layers": 3, "hidden": 32, "inner": 40, "positions": 512, "eps": 1e-5,
     "dtype": torch.float16},
    {"name": "untied", "seed": 13, "heads": 2, "layers": 2, "hidden": 16, "inner": 24, "positions": 48, "untied": True},
]
ACTIVE_SHARE = 0.15
NEAREST_ZERO = 2e-5

LONG = " ".join(f"{WORDS[(7 * i) % len(WORDS)]} {WORDS[(i * i) % len(WORDS)]}{'.' if i % 9 == 0 else ''}" for i in range(330))
TEXTS = [
    "the river was cold",
    "",
    " \t ",
    "A quick bird sings on the old bridge, and the storm breaks.",
    "Ünïcödé: café, Straße 水山 жд, 12.5 — emoji 🐳 and \u0000 control\u200b",
    "a",
    "the the the the the the",
    " ".join(WORDS[20:80]),
    "zzyzx qwerty unknownword 漢字 [MASK] lamp",
    LONG,
]
REAL_TEXTS = [
    "A lighthouse keeper counts the ships that pass at night.",
    "Vitamin C does not prevent the common cold, but it may shorten it a little.",
    "Müller's café in Zürich sells bread, honey and salt; the queue is long on Sundays. " * 12,
]
MASKED = "The capital of France is [MASK]."


def vocabulary():
    tokens = [SPECIALS.get(i, f"[unused{i - 1 if i < 100 else i - 5}]") for i in range(104)]
    return tokens + WORDS + [p for p in PIECES if p not in WORDS] + ["##" + p for p in PIECES if p != "s"] + OTHERS


def random_model(spec, vocab_size):
    torch.manual_seed(spec["seed"])
    config = BertConfig(
        vocab_size=vocab_size, hidden_size=spec["hidden"], num_hidden_layers=spec["layers"],
        num_attention_heads=spec["heads"], intermediate_size=spec["inner"],
        max_position_embeddings=spec["positions"], layer_norm_eps=spec.get("eps", 1e-12), initializer_range=0.3,
        tie_word_embeddings=not spec.get("untied", False), attn_implementation="eager",
    )
    model = BertForMaskedLM(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("LayerNorm.weight"):
                parameter.copy_(1 + 0.2 * torch.randn_like(parameter))
            elif name.endswith("bias"):
                parameter.copy_(0.1 * torch.randn_like(parameter))
    return model


@torch.no_grad()
def pooled_logits(model, ids):
    """max over positions of the MLM logits, float32 [V]."""
    return model(input_ids=torch.tensor([ids])).logits[0].max(dim=0).values


@torch.no_grad()
def shift_bias(model, inputs):
    """Lowers each term's bias so that it is active in about ACTIVE_SHARE of the texts."""
    z = torch.stack([pooled_logits(model, ids) for ids in inputs])
    offset = 0.01 + 0.1 * torch.rand(z.shape[1])  # no logit comes out as exactly 0
    # decoder.bias is cls.predictions.bias where tied; where not, it alone counts
    model.cls.predictions.decoder.bias -= torch.quantile(z, 1 - ACTIVE_SHARE, dim=0) + offset


def activated(z, k):
    w = max(0.0, float(z))
    for _ in range(k + 1):
        w = math.log1p(w)
    return w


def vector(z, special_ids):
    """Active terms and their weights for k = 0…3."""
    if float(z.abs().min()) < NEAREST_ZERO:
        raise SystemExit(f"a logit of {float(z.abs().min())} is too near to 0: take another seed")
    terms = [j for j in range(len(z)) if z[j] > 0 and j not in special_ids]
    weights = [[float(f"{activated(z[j], k):.7g}") for j in terms] for k in range(4)]
    return {"terms": terms, "weights": weights}


def header(arguments):
    return {
        "command": f"python scripts/golden-model.py{arguments}",
        "versions": {"python": platform.python_version(), "torch": torch.__version__,
                     "transformers": transformers.__version__, "tokenizers": tokenizers.__version__},
        "date": datetime.date.today().isoformat(),
    }


def encode(tokenizer, text, length):
    ids = tokenizer.encode(text).ids
    return ids if len(ids) <= length else ids[: length - 1] + ids[-1:], len(ids)


def tiny_models():
    torch.use_deterministic_algorithms(True)
    vocab = vocabulary()
    assert len(set(vocab)) == len(vocab)
    OUT.mkdir(parents=True, exist_ok=True)
    models = []
    for spec in MODELS:
        folder = OUT / spec["name"]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "vocab.txt").write_text("".join(token + "\n" for token in vocab))
        tokenizer = BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True)
        length = spec["positions"]
        inputs = [encode(tokenizer, text, length) for text in TEXTS]
        model = random_model(spec, len(vocab))
        shift_bias(model, [ids for ids, _ in inputs])
        model.to(spec.get("dtype", torch.float32)).save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        saved = BertForMaskedLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        vectors = [
            {"numTokens": n, "truncated": n > len(ids), **vector(pooled_logits(saved, ids), SPECIALS)} for ids, n in inputs
        ]
        active = [len(v["terms"]) for v in vectors]
        print(spec["name"], "active terms", active, sorted(safetensors.torch.load_file(folder / "model.safetensors"))[-4:])
        models.append({"name": spec["name"], "encodeLength": length, "vectors": vectors})
    write(OUT / "vectors.json", {**header(""), "texts": TEXTS, "models": models})


@torch.no_grad()
def real_model(folder):
    tokenizer = BertWordPieceTokenizer(str(pathlib.Path(folder) / "vocab.txt"), lowercase=True)
    model = BertForMaskedLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    encoding = tokenizer.encode(MASKED)
    logits = model(input_ids=torch.tensor([encoding.ids])).logits[0, encoding.tokens.index("[MASK]")]
    best = logits.softmax(dim=0).topk(5)
    masked = {
        "text": MASKED,
        "predictions": [[tokenizer.id_to_token(int(j)), float(f"{float(p):.7g}")] for p, j in zip(best.values, best.indices)],
    }
    print(masked)
    special = {tokenizer.token_to_id(token) for token in SPECIALS.values()}
    pooled = []
    for text in REAL_TEXTS:
        z = pooled_logits(model, encode(tokenizer, text, 512)[0]).double()
        weights = {j: activated(z[j], 0) for j in range(len(z)) if z[j] > 0 and j not in special}
        top = sorted(weights, key=lambda j: -weights[j])[:40]
        pooled.append({
            "text": text,
            "numActive": len(weights),
            "numUndecided": int((z.abs() < 1e-4).sum()),
            "sum": float(f"{sum(weights.values()):.9g}"),
            "top": [[tokenizer.id_to_token(j), float(f"{weights[j]:.8g}")] for j in top],
        })
        print({key: value for key, value in pooled[-1].items() if key != "top"})
    write(OUT / "real.json", {**header(" --real DIR"), "model": "bert-base-uncased", "masked": masked, "pooled": pooled})


def write(path, value):
    lines = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    path.write_text(lines.replace('{"numTokens"', '\n{"numTokens"').replace('{"text"', '\n{"text"') + "\n")
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--real", metavar="DIR")
    arguments = parser.parse_args()
    sys.exit(real_model(arguments.real) if arguments.real else tiny_models())
