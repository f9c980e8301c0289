"""Holds another implementation against test vectors of lzero (docs/TEST-VECTORS.md).

  python scripts/check-vectors.py VECTORS.json SPARSE_ENCODER_FOLDER     sentence-transformers
  python scripts/check-vectors.py VECTORS.json --bow MODEL_FOLDER        a bag of words: vocab.txt and idf.json, tokenizers

Prints what differs and ends with exit code 1 where anything does. With `pip install sentence-transformers`.
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


def main(path, encode):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    assert vectors["schemaVersion"] == 1, "another version of the format"
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
    path, *rest = sys.argv[1:]
    sys.exit(main(path, bag_of_words(rest[1]) if rest[0] == "--bow" else sparse_encoder(rest[0])))
