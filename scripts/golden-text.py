"""Asks Hugging Face's Rust tokenizers for the truth that src/text is held to.

Writes two files of the repository:
  src/text/unicode-ranges.ts       the characters its BertNormalizer and BertPreTokenizer treat specially
  test/golden/text/tokenizer.json  what its BERT tokenizer makes of texts of our own

Run from the root of the repository, with `pip install tokenizers`:
  python scripts/golden-text.py && npx biome check --write src/text/unicode-ranges.ts
The vocabulary is models/bow/vocab.txt. Rerunning with another version of tokenizers may change both files.
"""

import datetime
import json
import platform
import random

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

VOCAB = "models/bow/vocab.txt"
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
SETTINGS = {
    "uncased": {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
    "cased": {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": False},
    "accents kept": {"clean_text": True, "handle_chinese_chars": True, "strip_accents": False, "lowercase": True},
    "accents stripped, case kept": {"clean_text": True, "handle_chinese_chars": True, "strip_accents": True, "lowercase": False},
    "raw": {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False},
}


def only(**on):
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    return normalizers.BertNormalizer(**{**off, **on})


def character_classes():
    clean, chinese, accents = only(clean_text=True), only(handle_chinese_chars=True), only(strip_accents=True)
    words = pre_tokenizers.BertPreTokenizer()
    between = {c: f"a{chr(c)}b" for c in SCALARS}
    pieces = {c: len(words.pre_tokenize_str(between[c])) for c in SCALARS}
    return {
        "removed": [c for c in SCALARS if clean.normalize_str(between[c]) == "ab"],
        "whitespace": [c for c in SCALARS if pieces[c] == 2],
        "punctuation": [c for c in SCALARS if pieces[c] == 3],
        "nonspacing": [c for c in SCALARS if accents.normalize_str(chr(c)) == ""],
        "chinese": [c for c in SCALARS if chinese.normalize_str(between[c]) != between[c]],
    }


def base36(number):
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


def packed(codes):
    """Ranges as "gap.length" in base 36: how far from the end of the range before, how many characters."""
    ranges = []
    for code in codes:
        if ranges and ranges[-1][1] == code:
            ranges[-1][1] = code + 1
        else:
            ranges.append([code, code + 1])
    ends = [0] + [end for _, end in ranges]
    return " ".join(f"{base36(start - before)}.{base36(end - start)}" for (start, end), before in zip(ranges, ends))


def write_ranges(path, classes):
    docs = {
        "removed": "Dropped by `clean_text`: control, format and private-use characters, U+0000 and U+FFFD.",
        "whitespace": "Ends a word.",
        "punctuation": "A word of its own: the punctuation of Unicode 8, and all ASCII symbols.",
        "nonspacing": "Dropped by `strip_accents` after canonical decomposition: the nonspacing marks of Unicode 8.",
        "chinese": "Set apart by spaces: the CJK ideographs as the original BERT listed them.",
    }
    lines = [
        "/**",
        " * Characters that BERT's normaliser and pre-tokenizer treat specially, as Hugging Face's Rust tokenizers",
        f" * {tokenizers.__version__} does: made by scripts/golden-text.py, not by hand. Its Unicode tables are older than any engine's",
        " * `\\p{…}`, so those would differ, and differ from engine to engine.",
        " */",
        "",
        '/** Ranges by ascending code point, "gap.length" in base 36: gap from the end of the range before. */',
        "export const UNICODE_RANGES = {",
    ]
    for name, codes in classes.items():
        lines += [f"  /** {docs[name]} */", f"  {name}:", f"    '{packed(codes)}',"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["} as const;", ""]))


def bert(settings):
    tokenizer = Tokenizer(models.WordPiece.from_file(VOCAB, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(**settings)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIALS])
    ids = {token: tokenizer.token_to_id(token) for token in SPECIALS}
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    return tokenizer


OWN_TEXTS = [
    "", " ", "\t\r\n", "Keep the header on top while the page scrolls.", "What's the weather in ny now?",
    "don't can’t — “quoted” …ellipsis… 3.14 €5 £6 50% a_b c-d e/f g\\h i|j k~l m`n ^o",
    "® and ° are not punctuation for BERT: 20 °C, Foo® bar™ ©2026 ½ ² №",
    "naïve café résumé Ångström São Tomé Łódź Đà Nẵng", "cafe\u0301 a\u0328\u0301 b\u0301\u0323 e\u0301\u0000\u0323",
    "İstanbul ISTANBUL ı i̇ I\u0307", "ΑΣ ΟΔΟΣ Σ σς ΣΑ Α\u0301Σ", "Straße STRASSE ẞ ß", "ﬁne ﬂat ﬀ ﬃ ǅ ǆ Ǆ ﷺ",
    "한국어 검색 \u1112\u1161\u11ab \ud7b0", "日本語の検索 野口里佳 中文搜索", "\U00020000\U0002a6df\U0002a700x\U0002b81e \U0002b820 \U00030000 \U0002f800",
    "カタカナ ガ が は\u3099 ﾊﾟ", "สวัสดี ประเทศไทย", "नमस्ते दुनिया", "שָׁלוֹם עולם", "مَرْحَبًا بالعالم", "привет, Мир! Ёлка й",
    "emoji 😀 👍🏽 👩‍👩‍👧 🇩🇪 ❤️ x😀y", "zero\u200bwidth a\u200db c\u200cd e\u2060f g\ufeffh soft\u00adhyphen",
    "nbsp\u00a0here thin\u2009space ideographic\u3000space ogham\u1680space narrow\u202fspace", "line\u2028sep par\u2029sep nel\u0085x vt\u000bx ff\u000cx fs\u001cx",
    "bell\u0007 esc\u001b[0m nul\u0000l del\u007f c1\u0090x", "private \ue000 use \U000f0000x \U0010fffdy unassigned \u0378x", "replacement \ufffd char",
    "\u302e\U0001d165 \U0001d165\u302e a\u302e\U0001d165b", "new punctuation \u2e52x \u166dx \u111c9", "new marks a\u0897b a\u1abfb \u1734x",
    "a" * 100, "a" * 101, "é" * 100, "e\u0301" * 100, "é" * 101, "😀" * 100, "😀" * 101, "x" * 5000, "a" * 99 + ".", "-" * 50,
    "a [MASK] b", "x[SEP]y [sep] [ MASK ]", "[MASK", "[[MASK]]", "[mask]", "[UNK] [unused1] [PAD] [CLS]", "[MA\u0000SK] [MASK\u200b]", "é[MASK]é ’[SEP]’", "[MASK][MASK]", "[MASK]s",
    "##a a##b ## # @@ @", "https://example.org/a?b=c&d=e#f user@example.org C++ C# .NET node.js v20.19.0", "ALL CAPS MiXeD camelCase snake_case kebab-case",
    "1234567890 1,234.56 0x7f 1e-9", "unbelievably antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis", "\u00aa\u00ba\u00b5 ᵃ ⁿ ₂ Ω Å K",
    "tab\tseparated\tvalues\r\nwindows line", "ends with space ", " starts with space", "«guillemets» ¿qué? ¡sí! 、。「」", "\u0344\u0340a \u0958 \u2126",
]
FUZZ_ALPHABET = (
    list("abcdeXYZ 019.,-_[]#'\t\n") + ["é", "É", "ß", "ẞ", "İ", "ı", "Σ", "ς", "ﬁ", "한", "ᄒ", "ᅡ", "ᆫ", "日", "\U00020001", "😀", "\u200d", "\ufe0f", "\u0301", "\u0323",
    "\u00a0", "\u2028", "\u0085", "\u0000", "\u00ad", "\ue000", "\ufffd", "\u302e", "’", "“", "—", "°", "®", "€", "が", "ガ", "\u3099", "й", "ö", "[MASK]", "[SEP]", "##", "the", "ing"]
)


def encode_all(tokenizer, texts):
    return [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]


def fuzz_texts(count, seed):
    chance = random.Random(seed)
    return ["".join(chance.choice(FUZZ_ALPHABET) for _ in range(chance.randint(1, 24))) for _ in range(count)]


def main():
    write_ranges("src/text/unicode-ranges.ts", character_classes())
    texts = OWN_TEXTS + fuzz_texts(count=150, seed=20261116)
    golden = {
        "made by": "python scripts/golden-text.py",
        "date": datetime.date.today().isoformat(),
        "versions": {"tokenizers": tokenizers.__version__, "python": platform.python_version()},
        "vocabulary": VOCAB,
        "settings": SETTINGS,
        "texts": texts,
        "ids": {name: encode_all(bert(settings), texts) for name, settings in SETTINGS.items()},
    }
    with open("test/golden/text/tokenizer.json", "w", encoding="utf-8") as file:
        rows = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in golden.items() if key not in ("texts", "ids")]
        rows.append('"texts": [\n' + ",\n".join(json.dumps(text) for text in texts) + "\n]")
        rows.append('"ids": {\n' + ",\n".join(f"{json.dumps(name)}: {json.dumps(ids, separators=(',', ':'))}" for name, ids in golden["ids"].items()) + "\n}")
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
