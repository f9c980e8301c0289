"""Asks Hugging Face transformers and sentence-transformers for the truth that checkpoints of every kind are held to.

Writes tiny, randomly initialised models as these libraries and torch save them (test/golden/models/<name>/), and what
the libraries make of texts of our own (test/golden/models/expected.json):

    bert                BertForMaskedLM, model.safetensors, tokenizer.json
    bert-bin            the same weights, pytorch_model.bin as a zip file; vocab.txt
    bert-bin-legacy     the same weights, pytorch_model.bin of before torch 1.6
    bert-old-names      the same weights from BertForPreTraining: gamma and beta, position_ids, pooler, second head
    bert-untied         a decoder of its own
    bert-no-bias        no bias in the MLM head, hidden_act gelu_new
    distilbert          DistilBertForMaskedLM, model.safetensors
    distilbert-bin      DistilBertForMaskedLM, float16 in pytorch_model.bin, relu, sinusoidal positions
    opensearch          DistilBertForMaskedLM with idf.json beside it, k = 1; its queries are worked out here
    st-router           Router: SparseStaticEmbedding for queries, Transformer (DistilBERT) and SpladePooling, k = 1
    st-router-mlm       Router with the older MLMTransformer (BERT) and SpladePooling, k = 0
    st-plain            MLMTransformer and SpladePooling without a router, k = 1
    st-top              Transformer and SpladePooling without a router, k = 0, max_active_dims 8

Vectors of the transformers folders are worked out from its logits,

    z[j] = max over positions of logits[i, j]              float32, eager attention, one text at a time
    w[j] = log1p applied k + 1 times to relu(z[j])         float64, then pruned

those of the st- folders are what SparseEncoder.encode_document, encode_query and similarity give. Special tokens are
left out. Logits nearer to 0 than 2e-5, and weights as near to where a rule cuts, are refused: float32's rounding must
not decide whether a term is active.

Run from the root of the repository, with `pip install torch transformers sentence-transformers`:
    python scripts/golden-models.py
"""

import datetime
import json
import math
import os
import pathlib
import platform
import shutil
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import safetensors.torch
import sentence_transformers
import torch
import transformers
from sentence_transformers import SparseEncoder
from sentence_transformers.sparse_encoder.modules import (
    MLMTransformer,
    Router,
    SparseStaticEmbedding,
    SpladePooling,
    Transformer,
)
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    BertTokenizer,
    DistilBertConfig,
    DistilBertForMaskedLM,
)

OUT = pathlib.Path("test/golden/models")
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = """the of and in is on to it was for with what then this yes no not who where when
river stone boat harbour winter snow wind cloud bread salt honey garden apple tree leaf root seed bird song night lamp
book letter paper ink king queen tower bridge wall city road horse wheel iron glass mirror clock bell fire smoke rain
storm island whale rope sail map star moon sun light shadow cold warm small large old new red blue green slow quick
cafe creme uber""".split()
LETTERS = [chr(c) for c in range(ord("a"), ord("z") + 1)]
OTHERS = list("0123456789.,?!:-'") + ["水", "ж", "ß", "##ing", "##ed", "##er", "##ж"]
POSITIONS = 64
SIZES = {"hidden": 32, "heads": 4, "inner": 48}

TEXTS = [
    "",
    "river",
    "the river was cold and the boat was slow",
    "Café CRÈME Über Ångström, naïve façade",
    "what, then: is (this) it? yes! no; 12.5 - 3 isn't",
    "水山 жд ß emoji 🐳 漢字",
    "zzyzx qwerty unknownword",
    "the the the the the the",
    "winter\tsnow\u200b in\nthe\u0000 old city",
    "[MASK] who has seen the [CLS] lamp",
    "Where is the queen's mirror? Not in the tower, not on the island.",
    " ".join(f"{WORDS[7 * i % len(WORDS)]} {WORDS[i * i % len(WORDS)]}{'.' if i % 9 == 0 else ''}" for i in range(60)),
]
QUERIES = ["", "cold river", "Where is the queen's mirror?", "snow snow in winter", "café 水", "unknownword [MASK]"]
ACTIVE_SHARE = 0.2
NEAREST = 2e-5
RULES = [
    {"rule": "ratio", "ratio": 0.3},
    {"rule": "mass", "mass": 0.8},
    {"rule": "top-k", "k": 10},
    {"rule": "threshold", "threshold": 0.25},
]


def vocabulary():
    tokens = SPECIALS + LETTERS + ["##" + letter for letter in LETTERS] + OTHERS + [w for w in WORDS if len(w) > 1]
    assert len(set(tokens)) == len(tokens), "a token is there twice"
    return tokens


VOCABULARY = vocabulary()
TOKENIZER = BertTokenizer(vocab={token: i for i, token in enumerate(VOCABULARY)}, model_max_length=POSITIONS)
INPUTS = [TOKENIZER(text, truncation=True)["input_ids"] for text in TEXTS]


def bert_config(layers=2, **options):
    return BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=SIZES["hidden"], num_hidden_layers=layers,
        num_attention_heads=SIZES["heads"], intermediate_size=SIZES["inner"], max_position_embeddings=POSITIONS,
        initializer_range=0.3, attn_implementation="eager", **options,
    )


def distilbert_config(layers=2, **options):
    return DistilBertConfig(
        vocab_size=len(VOCABULARY), dim=SIZES["hidden"], n_layers=layers, n_heads=SIZES["heads"],
        hidden_dim=SIZES["inner"], max_position_embeddings=POSITIONS, initializer_range=0.3,
        attn_implementation="eager", **options,
    )


@torch.no_grad()
def random_model(model_class, config, seed):
    """A model whose LayerNorms and biases are random too: transformers begins with ones and zeros."""
    torch.manual_seed(seed)
    model = model_class(config).eval()
    for name, parameter in model.named_parameters():
        if "norm" in name.lower() and name.endswith("weight"):
            parameter.copy_(1 + 0.2 * torch.randn_like(parameter))
        elif name.endswith("bias"):
            parameter.copy_(0.1 * torch.randn_like(parameter))
    return model


@torch.no_grad()
def pooled_logits(model):
    """max over positions of the MLM logits of every text, float32 [texts, V]."""
    name = "prediction_logits" if isinstance(model, BertForPreTraining) else "logits"
    return torch.stack([model(input_ids=torch.tensor([ids]))[name][0].max(dim=0).values for ids in INPUTS])


@torch.no_grad()
def shift_bias(model, without_specials=False):
    """Lowers each term's bias: active in about ACTIVE_SHARE of the texts, special tokens in none if told."""
    z = pooled_logits(model)
    bias = model.get_output_embeddings().bias
    bias -= torch.quantile(z, 1 - ACTIVE_SHARE, dim=0) + 0.01 + 0.1 * torch.rand(z.shape[1])
    if without_specials:
        bias[: len(SPECIALS)] = -100
    return model


@torch.no_grad()
def shift_transform(model):
    """The same without a bias: a direction that all embeddings share is taken out of what is decoded."""
    embeddings = model.get_input_embeddings().weight
    common = torch.nn.functional.normalize(torch.randn(embeddings.shape[1]), dim=0)
    embeddings += common
    model.get_output_embeddings().bias.zero_()
    z = pooled_logits(model)
    model.cls.predictions.transform.LayerNorm.bias -= torch.quantile(z, 1 - ACTIVE_SHARE) * common
    return model


def folder_of(name, tokenizer_json):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if tokenizer_json:
        TOKENIZER.save_pretrained(folder)
    else:
        (folder / "vocab.txt").write_text("".join(token + "\n" for token in VOCABULARY))
    return folder


def save(name, model, tokenizer_json=False):
    """As transformers saves it."""
    folder = folder_of(name, tokenizer_json)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    return folder


def save_bin(name, model, state=None, legacy=False):
    """As transformers saved it before safetensors: torch.save of the state, tied tensors twice."""
    folder = folder_of(name, False)
    model.config.save_pretrained(folder)
    state = model.state_dict() if state is None else state
    torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=not legacy)
    return folder


def old_names(model):
    """The state of a BertForPreTraining as conversions from TensorFlow left it."""
    state = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in model.state_dict().items()
    }
    return {"bert.embeddings.position_ids": torch.arange(POSITIONS).expand(1, -1), **state}


def activated(z, k):
    w = max(0.0, float(z))
    for _ in range(k + 1):
        w = math.log1p(w)
    return w


def pruned(weights, rule):
    """Weights by token after a pruning rule, written from its definition."""
    if rule is None or not weights:
        return weights
    order = sorted(weights, key=lambda token: -weights[token])
    if rule["rule"] in ("ratio", "threshold"):
        cut = rule["ratio"] * weights[order[0]] if rule["rule"] == "ratio" else rule["threshold"]
        check_margin(abs(w - cut) for w in weights.values())
        return {token: w for token, w in weights.items() if w > cut}
    if rule["rule"] == "mass":
        total, sums = sum(weights.values()), 0.0
        for count, token in enumerate(order, 1):
            sums += weights[token]
            check_margin([abs(sums - rule["mass"] * total)])
            if sums >= rule["mass"] * total:
                break
    else:
        count = min(rule["k"], len(order))
    if count < len(order):
        check_margin([weights[order[count - 1]] - weights[order[count]]])
    kept = set(order[:count])
    return {token: w for token, w in weights.items() if token in kept}


def check_margin(distances):
    nearest = min(distances)
    if nearest < NEAREST:
        raise SystemExit(f"a distance of {nearest} from where terms are cut off is too small: take another seed")


def written(weights):
    return {token: float(f"{w:.7g}") for token, w in weights.items()}


def vectors_of(z, k=0, rule=None):
    check_margin(z.abs().flatten().tolist())
    special = len(SPECIALS)
    rows = [{VOCABULARY[j]: activated(row[j], k) for j in range(special, len(row)) if row[j] > 0} for row in z]
    return [written(pruned(row, rule)) for row in rows]


def case(folders, z, activation="relu", rule=None):
    k = ["relu", "l0"].index(activation)
    vectors = vectors_of(z, k, rule)
    print(", ".join(folders), activation, rule, "active terms", [len(v) for v in vectors])
    options = {"activation": activation, **({"prune": rule} if rule else {})}
    return {"folders": folders, "options": options, "vectors": vectors}


def loaded(folder, model_class):
    """The folder as transformers reads it."""
    return model_class.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def transformers_cases():
    cases = []
    pretrained = shift_bias(random_model(BertForPreTraining, bert_config(), 21))
    masked = BertForMaskedLM(bert_config()).eval()
    masked.load_state_dict({n: t for n, t in pretrained.state_dict().items() if n in masked.state_dict()})
    z = pooled_logits(masked)
    same = [
        save("bert", masked, tokenizer_json=True),
        save_bin("bert-bin", masked),
        save_bin("bert-bin-legacy", masked, legacy=True),
        save_bin("bert-old-names", pretrained, old_names(pretrained)),
    ]
    for folder in same:
        assert torch.equal(pooled_logits(loaded(folder, BertForMaskedLM)), z), folder
    cases.append(case([folder.name for folder in same], z))
    cases.append(case(["bert"], z, "l0"))
    cases += [case(["bert"], z, "relu", rule) for rule in RULES]

    config = bert_config(1, tie_word_embeddings=False)
    untied = save("bert-untied", shift_bias(random_model(BertForMaskedLM, config, 22)))
    cases.append(case([untied.name], pooled_logits(loaded(untied, BertForMaskedLM))))

    no_bias = random_model(BertForMaskedLM, bert_config(1, hidden_act="gelu_new"), 23)
    folder = save("bert-no-bias", shift_transform(no_bias))
    state = safetensors.torch.load_file(folder / "model.safetensors")
    del state["cls.predictions.bias"]
    safetensors.torch.save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    cases.append(case([folder.name], pooled_logits(loaded(folder, BertForMaskedLM))))

    distilbert = save("distilbert", shift_bias(random_model(DistilBertForMaskedLM, distilbert_config(), 24)))
    z = pooled_logits(loaded(distilbert, DistilBertForMaskedLM))
    cases += [case([distilbert.name], z), case([distilbert.name], z, "l0")]

    config = distilbert_config(1, activation="relu", sinusoidal_pos_embds=True)
    half = shift_bias(random_model(DistilBertForMaskedLM, config, 25)).half()
    folder = save_bin("distilbert-bin", half)
    cases.append(case([folder.name], pooled_logits(loaded(folder, DistilBertForMaskedLM))))
    return cases


def dot(query, vector):
    return float(f"{sum(w * vector.get(token, 0) for token, w in query.items()):.7g}")


def opensearch_case():
    """The layout of the first releases of opensearch-project: a checkpoint with idf.json beside it."""
    model = shift_bias(random_model(DistilBertForMaskedLM, distilbert_config(1), 26))
    folder = save("opensearch", model, tokenizer_json=True)
    weights = written(dict(zip(VOCABULARY[len(SPECIALS) :], query_weights()[len(SPECIALS) :].tolist())))
    (folder / "idf.json").write_text(json.dumps(weights, ensure_ascii=False))
    made = case([folder.name], pooled_logits(loaded(folder, DistilBertForMaskedLM)), "l0")
    asked = [dict.fromkeys(token for token in TOKENIZER.tokenize(text) if token in weights) for text in QUERIES]
    queries = [{token: weights[token] for token in tokens} for tokens in asked]
    scores = [[dot(query, vector) for vector in made["vectors"]] for query in queries]
    return {**made, "queries": queries, "scores": scores}


def encoder(name, model, parts, **options):
    """Saves a SparseEncoder, made of what `parts` makes of a transformers folder, and loads it again."""
    check_margin(pooled_logits(model).abs().flatten().tolist())
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        model.save_pretrained(scratch)
        TOKENIZER.save_pretrained(scratch)
        made = SparseEncoder(modules=parts(scratch), similarity_fn_name="dot", device="cpu", **options)
        made.save_pretrained(str(folder), create_model_card=False)
    return SparseEncoder(str(folder), device="cpu")


def query_weights():
    torch.manual_seed(5)
    weights = 0.05 + 6 * torch.rand(len(VOCABULARY))
    weights[: len(SPECIALS)] = 0
    return weights


def router(transformer, pooling):
    query = SparseStaticEmbedding(TOKENIZER, weight=query_weights(), frozen=True)
    return [Router.for_query_document(query_modules=[query], document_modules=[transformer, pooling])]


def rows_of(embeddings):
    assert float(embeddings[:, : len(SPECIALS)].abs().max()) == 0, "a special token is active"
    return [written({VOCABULARY[j]: float(row[j]) for j in range(len(row)) if row[j] > 0}) for row in embeddings]


def st_case(model, name):
    documents = model.encode_document(TEXTS, convert_to_sparse_tensor=False)
    vectors = rows_of(documents)
    print(name, "active terms", [len(v) for v in vectors])
    made = {"folders": [name], "options": {}, "vectors": vectors}
    if not isinstance(model[0], Router):
        return made
    queries = model.encode_query(QUERIES, convert_to_sparse_tensor=False)
    scores = [[float(f"{float(score):.7g}") for score in row] for row in model.similarity(queries, documents)]
    return {**made, "queries": rows_of(queries), "scores": scores}


def sentence_transformers_cases():
    def bert(seed):
        return shift_bias(random_model(BertForMaskedLM, bert_config(1), seed), without_specials=True)

    def distilbert(seed):
        return shift_bias(random_model(DistilBertForMaskedLM, distilbert_config(1), seed), without_specials=True)

    def fill_mask(path):
        return Transformer(path, transformer_task="fill-mask")

    def pooling(function):
        return SpladePooling(pooling_strategy="max", activation_function=function)

    models = {
        "st-router": (distilbert(31), lambda path: router(fill_mask(path), pooling("log1p_relu"))),
        "st-router-mlm": (bert(32), lambda path: router(MLMTransformer(path), pooling("relu"))),
        "st-plain": (bert(33), lambda path: [MLMTransformer(path), pooling("log1p_relu")]),
        "st-top": (bert(34), lambda path: [fill_mask(path), pooling("relu")]),
    }
    options = {"st-top": {"max_active_dims": 8}}
    return [st_case(encoder(name, *made, **options.get(name, {})), name) for name, made in models.items()]


def header():
    libraries = {"torch": torch, "transformers": transformers, "sentence-transformers": sentence_transformers}
    versions = {name: library.__version__ for name, library in libraries.items()}
    return {
        "command": "python scripts/golden-models.py",
        "versions": {"python": platform.python_version(), **versions},
        "date": datetime.date.today().isoformat(),
    }


def main():
    torch.use_deterministic_algorithms(True)
    OUT.mkdir(parents=True, exist_ok=True)
    cases = [*transformers_cases(), opensearch_case(), *sentence_transformers_cases()]
    expected = {**header(), "vocabularySize": len(VOCABULARY), "texts": TEXTS, "queries": QUERIES, "cases": cases}
    text = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
    path = OUT / "expected.json"
    path.write_text(text.replace('{"folders"', '\n{"folders"') + "\n")
    sizes = sum(file.stat().st_size for file in OUT.rglob("*") if file.is_file())
    print(path, path.stat().st_size, "bytes, all files", sizes)


if __name__ == "__main__":
    main()
