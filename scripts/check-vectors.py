"""Holds another implementation against test vectors of lzero (docs/TEST-VECTORS.md).

  python scripts/check-vectors.py VECTORS.json SPARSE_ENCODER_FOLDER     sentence-transformers
  python scripts/check-vectors.py VECTORS.json --bow MODEL_FOLDER        a bag of words: vocab.txt and idf.json, tokenizers

Prints what differs and ends with exit code 1 where anything does, 2 where it was called or given a file that makes no
sense. With `pip install sentence-transformers`.
"""

import json
import sys

TOLERANCE = 1e-4
SPECIAL = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}


def bag_of_words(folder):
    """Tokens, ids, query vector and document vector of a text, from two files and nothing else."""
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=True)
    with open(f"{folder}/idf.json", encoding="utf-8") as file:
        idf = json.load(file)

    def encode(text, _is_document):
        found = tokenizer.encode(text, add_special_tokens=False)
        words = set(found.tokens) - SPECIAL
        return found.tokens, found.ids, {t: idf.get(t, 1.0) for t in words}, {t: 1.0 for t in words}

    return encode


def sparse_encoder(folder):
    """The same by sentence-transformers."""
    from sentence_transformers import SparseEncoder

    model = SparseEncoder(folder, device="cpu")
    tokenizer = model.tokenizer
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))

    def named(vector):
        row = vector.coalesce()
        pairs = zip(row.indices()[-1].tolist(), row.values().tolist())
        return {names[j]: w for j, w in pairs if w > 0 and names[j] not in SPECIAL}

    def encode(text, is_document):
        ids = tokenizer(text, add_special_tokens=False, truncation=False)["input_ids"]
        document = named(model.encode_document(text)) if is_document else None
        return [names[j] for j in ids], ids, named(model.encode_query(text)), document

    return encode


def largest_change(a, b):
    return max((abs(a.get(t, 0) - b.get(t, 0)) for t in {*a, *b}), default=0)


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            vectors = json.load(file)
    except (OSError, ValueError) as error:
        fail(f"{path}: {error}")
    if not isinstance(vectors, dict) or vectors.get("schemaVersion") != 1:
        fail(f"{path}: not a file of test vectors, or of another version")
    if not vectors.get("texts"):
        fail(f"{path}: holds no texts, so that everything would agree with it")
    return vectors


def fail(problem):
    print(problem, file=sys.stderr)
    sys.exit(2)


def main(path, choose):
    vectors = read(path)
    encode = choose()  # only now: it takes seconds
    faults, made = [], []
    for i, text in enumerate(vectors["texts"]):
        tokens, ids, query, document = encode(text["text"], "documentVector" in text)
        made.append((query, document))
        if tokens != text["tokens"] or ids != text["ids"]:
            faults.append(f"texts.{i}: {tokens} instead of {text['tokens']}")
        if largest_change(query, text["queryVector"]) > TOLERANCE:
            faults.append(f"texts.{i}: query vector off by {largest_change(query, text['queryVector'])}")
        if document is not None and "documentVector" in text:
            if largest_change(document, text["documentVector"]) > TOLERANCE:
                faults.append(f"texts.{i}: document vector off by {largest_change(document, text['documentVector'])}")
    for i, pair in enumerate(vectors["pairs"]):
        query, document = made[pair["query"]][0], made[pair["document"]][1]
        score = sum(w * document.get(t, 0) for t, w in query.items())
        if abs(score - pair["score"]) > TOLERANCE * max(1, abs(pair["score"])):
            faults.append(f"pairs.{i}: {score} instead of {pair['score']}")
    print("\n".join(faults[:20]) or f"{len(vectors['texts'])} texts and {len(vectors['pairs'])} scores agree")
    return 1 if faults else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if len(arguments) == 3 and arguments[1] == "--bow":
        sys.exit(main(arguments[0], lambda: bag_of_words(arguments[2])))
    if len(arguments) != 2 or arguments[1].startswith("-"):
        fail(__doc__.strip())
    sys.exit(main(arguments[0], lambda: sparse_encoder(arguments[1])))
