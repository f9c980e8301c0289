/**
 * The tokenizer that everything else uses: text to term ids, for queries, for IDF and for a model. This is its face and
 * our own WordPiece behind it; create-tokenizer.ts reads files. Knows nothing of files.
 */
import { quoted, TokenizerError } from '../core/index.ts';
import type { Vocabulary } from './vocabulary.ts';
import { WordPiece, type WordPieceSettings } from './wordpiece.ts';

/** What a model reads. */
export type ModelInput = {
  /** Term ids with the model's special tokens around them, at most `maxLength`. */
  readonly ids: Int32Array;
  /** How many there would be without the limit. */
  readonly numTokens: number;
  /** Term ids of the whole text, without special tokens. */
  readonly textIds: Uint32Array;
};

/** Turns text into term ids. */
export type Tokenizer = {
  /** Tokens and their term ids. */
  readonly vocabulary: Vocabulary;
  /** How words are cut, where our own WordPiece runs; undefined for tokenizers that run on the library. */
  readonly wordPiece: WordPieceSettings | undefined;
  /** Special tokens that a model wants before and after the text. */
  readonly frame: SpecialTokenFrame;
  /** Term ids of the text, all of them, without special tokens added. */
  encode(text: string): Uint32Array;
  /** Term ids as the model wants them: [CLS] … [SEP], cut to `maxLength`. */
  encodeForModel(text: string, maxLength: number): ModelInput;
  /** The tokens of the text, for people. */
  tokens(text: string): string[];
};

/** Term ids of the special tokens around a text. */
export type SpecialTokenFrame = {
  /** [CLS] for BERT. */
  readonly before: readonly number[];
  /** [SEP] for BERT. */
  readonly after: readonly number[];
};

/** How to build a WordPiece tokenizer from parts. */
export type WordPieceParts = {
  /** How words are cut. */
  readonly settings: WordPieceSettings;
  /** Special tokens that a model wants before the text; BERT's [CLS] unless given. */
  readonly before?: readonly string[];
  /** Special tokens that a model wants after the text; BERT's [SEP] unless given. */
  readonly after?: readonly string[];
  /** Names the source in errors. */
  readonly label: string;
};

/** A tokenizer on our own WordPiece. */
export function wordPieceTokenizer(vocabulary: Vocabulary, parts: WordPieceParts): Tokenizer {
  const { settings, before = ['[CLS]'], after = ['[SEP]'], label } = parts;
  const wordPiece = new WordPiece(vocabulary, settings, label);
  const idOf = (token: string): number => {
    const id = vocabulary.idOf(token);
    if (id === undefined) throw new TokenizerError(`${label}: no token ${quoted(token)} in the vocabulary`);
    return id;
  };
  const frame = { before: before.map(idOf), after: after.map(idOf) };
  return tokenizerOf({ vocabulary, wordPiece: settings, frame, encode: (text) => wordPiece.encode(text) });
}

/** Completes a tokenizer from what differs between kinds. */
export function tokenizerOf(core: Pick<Tokenizer, 'vocabulary' | 'wordPiece' | 'frame' | 'encode'>): Tokenizer {
  const { vocabulary, frame, encode } = core;
  return {
    ...core,
    encodeForModel: (text, maxLength) => framed(encode(text), frame, maxLength),
    tokens: (text) => Array.from(encode(text), (id) => vocabulary.tokens[id]),
  };
}

function framed(ids: Uint32Array, { before, after }: SpecialTokenFrame, maxLength: number): ModelInput {
  const room = maxLength - before.length - after.length;
  if (!Number.isInteger(maxLength) || room < 1)
    throw new TokenizerError(
      `maxLength must be an integer above the ${before.length + after.length} special tokens, got ${maxLength}`,
    );
  const kept = ids.subarray(0, room);
  const input = new Int32Array(before.length + kept.length + after.length);
  input.set(before);
  input.set(kept, before.length);
  input.set(after, before.length + kept.length);
  return { ids: input, numTokens: ids.length + before.length + after.length, textIds: ids };
}
