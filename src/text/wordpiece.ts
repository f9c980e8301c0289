/**
 * BERT's WordPiece tokenizer, equal to Hugging Face's Rust tokenizers id by id (test/golden/text, scripts/golden-text.py)
 * and several times faster than its JavaScript twin. ASCII goes through tables, the rest through bert-normalizer.ts.
 * Knows nothing of files.
 */
import { assert, quoted, TokenizerError } from '../core/index.ts';
import { type BertNormalization, normalizeBert } from './bert-normalizer.ts';
import { TokenTrie } from './token-trie.ts';
import { CharFlag, charFlags } from './unicode-classes.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Everything besides the vocabulary that decides which ids a text gets. */
export type WordPieceSettings = {
  /** What happens to the text before it is cut. */
  readonly normalization: BertNormalization;
  /** Longer words become the unknown token. Counted in code points after normalisation; BERT has 100. */
  readonly maxCharsPerWord: number;
  /** What marks a token that continues a word; BERT has "##". */
  readonly continuingPrefix: string;
  /** The token for words without pieces; BERT has "[UNK]". */
  readonly unknownToken: string;
  /** Tokens found literally in the raw text, before normalisation: "[MASK]". */
  readonly literalTokens: readonly string[];
};

/** The settings of bert-base-uncased. */
export const BERT_UNCASED: WordPieceSettings = {
  normalization: { cleanText: true, handleChineseChars: true, stripAccents: true, lowercase: true },
  maxCharsPerWord: 100,
  continuingPrefix: '##',
  unknownToken: '[UNK]',
  literalTokens: ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'],
};

/** More than any tokenizer asks for; buffers are made for it. */
export const MAX_CHARS_PER_WORD = 100_000;

/** What to do with an ASCII character. */
const LETTER = 0;
const SPACE = 1;
const PUNCTUATION = 2;
const REMOVED = 3;

/** Normalised forms of short stretches ("’", "é") are kept, at most this many: they recur in every document. */
const MAX_SHORT_FORMS = 4096;
const SHORT_FORM_LENGTH = 2;

/** Turns text into term ids. Holds buffers: one instance must not be re-entered, and it never is. */
export class WordPiece {
  /** Tokens and their ids. */
  readonly vocabulary: Vocabulary;
  /** How words are cut. */
  readonly settings: WordPieceSettings;
  readonly #asciiAction: Uint8Array;
  readonly #asciiUnit: Uint16Array;
  readonly #initial: TokenTrie;
  readonly #continuing: TokenTrie;
  readonly #unknownId: number;
  readonly #literals: LiteralTokens;
  readonly #shortForms = new Map<string, string>();

  /** The word being read, in UTF-16 units. As long as a word may be; what is beyond is only counted. */
  readonly #word: Uint16Array;
  #wordLength = 0;
  /** Low surrogates in the word: length − pairs = code points. */
  #wordPairs = 0;
  #ids = new Uint32Array(1024);
  #numIds = 0;

  constructor(vocabulary: Vocabulary, settings: WordPieceSettings, label: string) {
    const { normalization, continuingPrefix, maxCharsPerWord, unknownToken } = settings;
    this.vocabulary = vocabulary;
    this.settings = settings;
    this.#asciiAction = asciiActions(normalization);
    this.#asciiUnit = asciiUnits(normalization);
    this.#word = new Uint16Array(maxCharsPerWord * 2);
    this.#initial = new TokenTrie(piecesOf(vocabulary.tokens, '', this.#word.length));
    this.#continuing = new TokenTrie(piecesOf(vocabulary.tokens, continuingPrefix, this.#word.length));
    this.#unknownId = requireToken(vocabulary, unknownToken, label);
    this.#literals = new LiteralTokens(
      settings.literalTokens.map((token) => [token, requireToken(vocabulary, token, label)] as const),
    );
  }

  /** Term ids of a text, without special tokens added. */
  encode(text: string): Uint32Array {
    this.#numIds = 0;
    let start = 0;
    for (const literal of this.#literals.find(text)) {
      this.#encodeStretch(text, start, literal.start);
      this.#pushId(literal.id);
      start = literal.end;
    }
    this.#encodeStretch(text, start, text.length);
    return this.#ids.slice(0, this.#numIds);
  }

  #encodeStretch(text: string, start: number, end: number): void {
    for (let i = start; i < end; ) {
      const unit = text.charCodeAt(i);
      if (unit < 0x80) {
        this.#readAscii(unit);
        i++;
      } else {
        const stop = this.#endOfForeignRun(text, i, end);
        this.#readNormalized(this.#normalized(text.slice(i, stop)));
        i = stop;
      }
    }
    this.#endWord();
  }

  #readAscii(unit: number): void {
    switch (this.#asciiAction[unit]) {
      case LETTER:
        this.#pushUnit(this.#asciiUnit[unit]);
        break;
      case SPACE:
        this.#endWord();
        break;
      case PUNCTUATION:
        this.#wordOfItsOwn(unit);
        break;
      // Removed characters leave no trace: "a\u0000b" is one word.
    }
  }

  /**
   * A run that can be normalised alone: marks combine and change places only with neighbours outside ASCII, or across
   * ASCII control characters that cleaning removes first.
   */
  #endOfForeignRun(text: string, start: number, end: number): number {
    let i = start + 1;
    while (i < end) {
      const unit = text.charCodeAt(i);
      if (unit < 0x80 && this.#asciiAction[unit] !== REMOVED) break;
      i++;
    }
    return i;
  }

  #normalized(run: string): string {
    const { normalization } = this.settings;
    if (run.length > SHORT_FORM_LENGTH) return normalizeBert(run, normalization);
    let form = this.#shortForms.get(run);
    if (form === undefined) {
      form = normalizeBert(run, normalization);
      if (this.#shortForms.size >= MAX_SHORT_FORMS) this.#shortForms.clear();
      this.#shortForms.set(run, form);
    }
    return form;
  }

  #readNormalized(text: string): void {
    const flags = charFlags();
    for (let i = 0; i < text.length; i++) {
      const code = text.codePointAt(i) ?? 0;
      const flag = flags[code];
      const isPair = code > 0xffff;
      if (flag & CharFlag.whitespace) this.#endWord();
      else if (flag & CharFlag.punctuation) this.#wordOfItsOwn(code);
      else this.#pushCode(code);
      if (isPair) i++;
    }
  }

  #pushCode(code: number): void {
    if (code <= 0xffff) {
      this.#pushUnit(code);
      return;
    }
    this.#pushUnit(0xd7c0 + (code >> 10));
    this.#pushUnit(0xdc00 + (code & 0x3ff));
    this.#wordPairs++;
  }

  #pushUnit(unit: number): void {
    if (this.#wordLength < this.#word.length) this.#word[this.#wordLength] = unit;
    this.#wordLength++;
  }

  #wordOfItsOwn(code: number): void {
    this.#endWord();
    this.#pushCode(code);
    this.#endWord();
  }

  /** Cuts the word into the longest pieces from the left; a word that cannot be cut to its end is unknown. */
  #endWord(): void {
    const length = this.#wordLength;
    if (length === 0) return;
    const firstId = this.#numIds;
    const tooLong = length - this.#wordPairs > this.settings.maxCharsPerWord;
    if (tooLong || !this.#pushPieces(length)) {
      this.#numIds = firstId;
      this.#pushId(this.#unknownId);
    }
    this.#wordLength = 0;
    this.#wordPairs = 0;
  }

  #pushPieces(length: number): boolean {
    let trie = this.#initial;
    for (let at = 0; at < length; at += trie.matchLength, trie = this.#continuing) {
      const id = trie.longest(this.#word, at, length);
      if (id < 0) return false;
      this.#pushId(id);
    }
    return true;
  }

  #pushId(id: number): void {
    if (this.#numIds === this.#ids.length) {
      const grown = new Uint32Array(this.#ids.length * 2);
      grown.set(this.#ids);
      this.#ids = grown;
    }
    this.#ids[this.#numIds++] = id;
  }
}

/** Finds tokens literally in raw text: leftmost first, of several there the longest. */
class LiteralTokens {
  /** Longest first. */
  readonly #tokens: readonly (readonly [token: string, id: number])[];
  readonly #firstChars: readonly string[];

  constructor(tokens: readonly (readonly [token: string, id: number])[]) {
    assert(
      tokens.every(([token]) => token !== ''),
      'a literal token is empty',
    );
    this.#tokens = [...tokens].sort(([a], [b]) => b.length - a.length);
    this.#firstChars = [...new Set(tokens.map(([token]) => token[0]))];
  }

  find(text: string): { start: number; end: number; id: number }[] {
    const found: { start: number; end: number; id: number }[] = [];
    if (!this.#firstChars.some((char) => text.includes(char))) return found;
    for (let at = 0; at < text.length; ) {
      const match = this.#firstChars.includes(text[at]) && this.#tokens.find(([token]) => text.startsWith(token, at));
      if (match) found.push({ start: at, end: at + match[0].length, id: match[1] });
      at += match ? match[0].length : 1;
    }
    return found;
  }
}

function asciiActions({ cleanText }: BertNormalization): Uint8Array {
  return Uint8Array.from({ length: 0x80 }, (_, code) => {
    const flag = charFlags()[code];
    if (cleanText && flag & CharFlag.removed) return REMOVED;
    if (flag & CharFlag.whitespace) return SPACE;
    return flag & CharFlag.punctuation ? PUNCTUATION : LETTER;
  });
}

function asciiUnits({ lowercase }: BertNormalization): Uint16Array {
  return Uint16Array.from({ length: 0x80 }, (_, code) => {
    const char = String.fromCharCode(code);
    return (lowercase ? char.toLowerCase() : char).charCodeAt(0);
  });
}

/** What tokens look like inside a word, after their prefix; those longer than any word can never be found. */
function piecesOf(tokens: readonly string[], prefix: string, maxLength: number): (readonly [string, number])[] {
  return tokens
    .map((token, id) => [token, id] as const)
    .filter(([token]) => token.startsWith(prefix) && token.length - prefix.length <= maxLength)
    .map(([token, id]) => [token.slice(prefix.length), id] as const);
}

function requireToken(vocabulary: Vocabulary, token: string, label: string): number {
  const id = vocabulary.idOf(token);
  if (id === undefined) throw new TokenizerError(`${label}: the token ${quoted(token)} is missing from the vocabulary`);
  return id;
}
