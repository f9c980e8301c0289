/**
 * The query side in one small file: vocabulary, tokenizer settings and IDF in 8 bits, for an index or a page to carry.
 * Whoever decodes it scores with the stored weights, so all runtimes agree to the bit.
 *
 *     "LZQS"  u8 version  u8 flags  u32 CRC-32 of all that follows
 *     varint  maxCharsPerWord        string continuingPrefix        string unknownToken
 *     varint  n, then n tokens in sorted order (front-coding.ts)
 *     strings special tokens, literal tokens, tokens before a text, tokens after it
 *     n × 3   term ids by sorted position, low bytes, middle bytes, high bytes      (numbering 'vocabulary' only)
 *     f32 lo  f32 hi  n × u8 weight codes by sorted position (code 0 is weight 0)
 *
 * Numbering. The order of BERT's ids is a word-frequency list that cannot be computed: log₂ 30,522! bits = 51 KB, on top
 * of 50 KB for the tokens and 26 KB for the weights of MS MARCO's table. So the file with that table is 130.5 KB gzip with
 * the ids of the vocabulary, and 76.8 KB when terms are numbered anew by sorted token; with the embedded table 127.8 and
 * 74.5 KB (bench/tokenize.ts). (A context-mixing coder over the unsorted list was tried: 79 + 23 KB.) An index built for a
 * page may use the new numbers throughout: outside, vectors are {token: weight}, and no score depends on a number.
 * `renumber` translates.
 */
import { ByteReader, ByteWriter, crc32, IdfError, quoted, TokenizerError } from '../core/index.ts';
import { readTokens, writeTokens } from './front-coding.ts';
import { type IdfTable, requireSize } from './idf.ts';
import type { QuerySide } from './query.ts';
import { type Tokenizer, wordPieceTokenizer } from './tokenizer.ts';
import { MAX_TOKENS, Vocabulary } from './vocabulary.ts';
import { MAX_CHARS_PER_WORD, type WordPieceSettings } from './wordpiece.ts';

/** Whose term ids a query side has: the vocabulary's own, or positions in the sorted list of tokens (smaller file). */
export type Numbering = 'vocabulary' | 'sorted';

/** A decoded query side. */
export type DecodedQuerySide = QuerySide & {
  /** Whose term ids it has. */
  readonly numbering: Numbering;
};

const MAGIC = [0x4c, 0x5a, 0x51, 0x53]; // "LZQS"
const VERSION = 1;
const HEADER_BYTES = 10;
/** Codes 1…255 are the positive weights. */
const MAX_CODE = 255;

const FLAG = { cleanText: 1, handleChineseChars: 2, stripAccents: 4, lowercase: 8, sorted: 16 } as const;
const ALL_FLAGS = 31;

/** What was encoded last of a table: many indexes may be made with one model, and sorting its vocabulary takes long. */
const encoded = new WeakMap<
  IdfTable,
  { readonly tokenizer: Tokenizer; readonly numbering: Numbering; readonly bytes: Uint8Array }
>();

/**
 * Encodes a query side. Weights are rounded to 8 bits, negative ones to 0 (the query encoder's relu); encoding what was
 * decoded gives the same bytes.
 *
 * `numbering`: 'vocabulary' keeps the term ids; 'sorted' numbers terms anew and saves 51 KB for BERT
 */
export function encodeQuerySide(
  side: QuerySide,
  { numbering = 'vocabulary' }: { numbering?: Numbering } = {},
): Uint8Array {
  const known = encoded.get(side.idf);
  if (known?.tokenizer === side.tokenizer && known.numbering === numbering) return known.bytes.slice();
  const bytes = encodeAnew(side, numbering);
  encoded.set(side.idf, { tokenizer: side.tokenizer, numbering, bytes });
  return bytes.slice();
}

function encodeAnew({ tokenizer, idf }: QuerySide, numbering: Numbering): Uint8Array {
  requireSize(idf, tokenizer.vocabulary);
  const order = sortedOrder(tokenizer.vocabulary);
  const out = new ByteWriter();
  const settings = requireWordPiece(tokenizer);
  writeSettings(out, settings);
  out.varint(order.length);
  writeTokens(
    out,
    order.map((id) => tokenizer.vocabulary.tokens[id]),
  );
  writeRoles(out, tokenizer, settings);
  if (numbering === 'vocabulary') writePlanes(out, order);
  writeWeights(
    out,
    order.map((id) => idf.values[id]),
  );
  return withHeader(out.finish(), flagsOf(settings, numbering));
}

/** Decodes a query side; damaged bytes give an IdfError that names the position. */
export function decodeQuerySide(bytes: Uint8Array, label = 'query side'): DecodedQuerySide {
  const input = new ByteReader(bytes, label, (message, details) => new IdfError(message, details));
  const flags = readHeader(input, bytes);
  const numbering: Numbering = flags & FLAG.sorted ? 'sorted' : 'vocabulary';
  const words = readWordSettings(input);
  const count = input.varint(Math.min(MAX_TOKENS, input.left));
  const sorted = readTokens(input, count);
  const roles = readRoles(input);
  const order = numbering === 'vocabulary' ? readPlanes(input, count) : Uint32Array.from(sorted, (_, i) => i);
  const weights = readWeights(input, count);
  if (input.left > 0) throw input.error(`expected the end, ${input.left} bytes are left`);
  const settings = { ...words, normalization: normalizationOf(flags), literalTokens: roles.literal };
  const vocabulary = new Vocabulary(scatter(order, sorted), roles.special, label);
  const tokenizer = wordPieceTokenizer(vocabulary, { ...roles, settings, label });
  return { tokenizer, idf: { values: Float32Array.from(scatter(order, weights)) }, numbering };
}

function sortedOrder({ tokens }: Vocabulary): number[] {
  const compare = (a: number, b: number): number => (tokens[a] < tokens[b] ? -1 : 1);
  return Array.from(tokens, (_, id) => id).sort(compare);
}

/** Puts the value at sorted position i to term id order[i]. */
function scatter<T>(order: Uint32Array, values: ArrayLike<T>): T[] {
  const byId = new Array<T>(order.length);
  order.forEach((id, i) => {
    byId[id] = values[i];
  });
  return byId;
}

function requireWordPiece({ wordPiece }: Tokenizer): WordPieceSettings {
  if (wordPiece) return wordPiece;
  throw new TokenizerError('only WordPiece tokenizers have a compact query side', {
    hint: 'carry tokenizer.json and idf.json instead',
  });
}

function flagsOf({ normalization }: WordPieceSettings, numbering: Numbering): number {
  return (
    (normalization.cleanText ? FLAG.cleanText : 0) |
    (normalization.handleChineseChars ? FLAG.handleChineseChars : 0) |
    (normalization.stripAccents ? FLAG.stripAccents : 0) |
    (normalization.lowercase ? FLAG.lowercase : 0) |
    (numbering === 'sorted' ? FLAG.sorted : 0)
  );
}

function normalizationOf(flags: number): WordPieceSettings['normalization'] {
  return {
    cleanText: (flags & FLAG.cleanText) > 0,
    handleChineseChars: (flags & FLAG.handleChineseChars) > 0,
    stripAccents: (flags & FLAG.stripAccents) > 0,
    lowercase: (flags & FLAG.lowercase) > 0,
  };
}

function withHeader(body: Uint8Array, flags: number): Uint8Array {
  const out = new ByteWriter();
  out.bytes(MAGIC);
  out.u8(VERSION);
  out.u8(flags);
  out.u32(crc32(body));
  out.bytes(body);
  return out.finish();
}

function readHeader(input: ByteReader, bytes: Uint8Array): number {
  const magic = input.bytes(MAGIC.length);
  if (!MAGIC.every((byte, i) => magic[i] === byte)) throw input.error('not a query side: it begins with "LZQS"', 0);
  const version = input.u8();
  if (version !== VERSION) throw input.error(`expected version ${VERSION}, got ${version}`, 4);
  const flags = input.u8();
  if (flags > ALL_FLAGS) throw input.error(`unknown flags 0x${flags.toString(16)}`, 5);
  const expected = input.u32();
  const actual = crc32(bytes.subarray(HEADER_BYTES));
  if (actual !== expected) throw input.error(`checksum ${expected} expected, ${actual} found: the file is damaged`, 6);
  return flags;
}

function writeSettings(out: ByteWriter, { maxCharsPerWord, continuingPrefix, unknownToken }: WordPieceSettings): void {
  out.varint(maxCharsPerWord);
  out.string(continuingPrefix);
  out.string(unknownToken);
}

function readWordSettings(
  input: ByteReader,
): Pick<WordPieceSettings, 'maxCharsPerWord' | 'continuingPrefix' | 'unknownToken'> {
  const maxCharsPerWord = input.varint(MAX_CHARS_PER_WORD);
  return { maxCharsPerWord, continuingPrefix: input.string(), unknownToken: input.string() };
}

function writeRoles(out: ByteWriter, { vocabulary, frame }: Tokenizer, { literalTokens }: WordPieceSettings): void {
  const tokensOf = (ids: Iterable<number>): string[] => Array.from(ids, (id) => vocabulary.tokens[id]);
  out.strings(tokensOf(vocabulary.specialIds));
  out.strings(literalTokens);
  out.strings(tokensOf(frame.before));
  out.strings(tokensOf(frame.after));
}

function readRoles(input: ByteReader): Record<'special' | 'literal' | 'before' | 'after', string[]> {
  return { special: input.strings(), literal: input.strings(), before: input.strings(), after: input.strings() };
}

function writePlanes(out: ByteWriter, order: readonly number[]): void {
  for (const shift of [0, 8, 16]) for (const id of order) out.u8((id >>> shift) & 0xff);
}

function readPlanes(input: ByteReader, count: number): Uint32Array {
  const start = input.position;
  const planes = [0, 8, 16].map((shift) => ({ shift, bytes: input.bytes(count) }));
  const order = Uint32Array.from({ length: count }, (_, i) =>
    planes.reduce((id, { shift, bytes }) => id | (bytes[i] << shift), 0),
  );
  const seen = new Uint8Array(count);
  order.forEach((id, i) => {
    if (id >= count || seen[id]) throw input.error(`term id ${id} is out of range or occurs twice`, start + i);
    seen[id] = 1;
  });
  return order;
}

/**
 * Weights in 8 bits: code 0 is 0, codes 1…255 step evenly from the smallest positive weight to the largest.
 *
 *     w(c) = lo + (c − 1)·(hi − lo)/254        |error| ≤ (hi − lo)/508 = 0.031 for the MS MARCO table
 *
 * Levels fitted to the distribution (Lloyd) were tried: root mean square error 0.0169 against 0.0172, and a larger
 * maximum. Not worth a table.
 */
function writeWeights(out: ByteWriter, weights: readonly number[]): void {
  const positive = weights.filter((weight) => weight > 0);
  const lo = positive.reduce((a, b) => Math.min(a, b), positive.length > 0 ? Number.POSITIVE_INFINITY : 0);
  const hi = positive.reduce((a, b) => Math.max(a, b), 0);
  const step = (hi - lo) / (MAX_CODE - 1);
  out.f32(lo);
  out.f32(hi);
  for (const weight of weights) out.u8(weight > 0 ? 1 + (step > 0 ? Math.round((weight - lo) / step) : 0) : 0);
}

function readWeights(input: ByteReader, count: number): Float32Array {
  const start = input.position;
  const lo = input.f32();
  const hi = input.f32();
  if (!(lo >= 0 && lo <= hi && hi < Number.POSITIVE_INFINITY))
    throw input.error(`expected weights 0 ≤ lo ≤ hi, got ${lo} and ${hi}`, start);
  const step = (hi - lo) / (MAX_CODE - 1);
  return Float32Array.from(input.bytes(count), (code) => {
    if (code === 0) return 0;
    return code === MAX_CODE ? hi : lo + (code - 1) * step;
  });
}

/**
 * Term ids of one vocabulary by term ids of another with the same tokens.
 *
 * @returns for each term id of `from`, the id of the same token in `to`
 */
export function renumber(from: Vocabulary, to: Vocabulary): Uint32Array {
  return Uint32Array.from(from.tokens, (token) => {
    const id = to.idOf(token);
    if (id === undefined) throw new TokenizerError(`the token ${quoted(token)} is missing from the other vocabulary`);
    return id;
  });
}
