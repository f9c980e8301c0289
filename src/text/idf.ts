/**
 * IDF tables: one weight per term id, which is all that a query needs. Read, written, computed from a collection,
 * blended, or all ones. What the weights do to a query is in query.ts.
 */
import { formatFloat32, hasRepeatedKeys, IdfError, parseJson, quoted, ShapeError, shownJson } from '../core/index.ts';
import type { Tokenizer } from './tokenizer.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Weight of a query term by term id. May hold negative values (learned tables); the query encoder takes relu. */
export type IdfTable = {
  /** One weight per term id, finite. */
  readonly values: Float32Array;
};

/** Weight of a token that an idf file does not name (the released models' convention). */
const WEIGHT_IF_MISSING = 1;

const DAMAGED = 'the file is damaged or no IDF table: copy it again, or compute one with `lzero model idf`';

/** Every token weighs 1: `idf: none`, as SPLADE-doc-distill and SPLADE-v3-Doc have it. */
export function noIdf(vocabulary: Vocabulary): IdfTable {
  return { values: new Float32Array(vocabulary.size).fill(1) };
}

/** Reads idf.json, {"token": weight}. Tokens it does not name weigh 1. */
export function parseIdf(text: string, vocabulary: Vocabulary, label: string): IdfTable {
  const values = new Float32Array(vocabulary.size).fill(WEIGHT_IF_MISSING);
  for (const [token, weight] of Object.entries(parseObject(text, label))) {
    const id = vocabulary.idOf(token);
    if (id === undefined)
      throw new IdfError(`${label}: the token ${quoted(token)} is not in the vocabulary`, {
        hint: 'the table was made for another vocabulary; compute one with `lzero model idf`',
      });
    if (typeof weight !== 'number' || !Number.isFinite(Math.fround(weight)))
      throw new IdfError(`${label}: ${quoted(token)}: expected a finite number, got ${shownJson(weight)}`, {
        hint: 'weights are numbers that a 32-bit float can hold; mend the line, or compute a table with `lzero model idf`',
      });
    values[id] = weight;
  }
  return { values };
}

function parseObject(text: string, label: string): object {
  const json = parseJson(text, (problem, cause) => new IdfError(`${label}: ${problem}`, { hint: DAMAGED, cause }));
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new IdfError(`${label}: expected an object {"token": weight}`, { hint: DAMAGED });
  if (hasRepeatedKeys(text, json))
    throw new IdfError(`${label}: a token occurs twice`, { hint: 'keep one of the two weights' });
  return json;
}

/** Writes idf.json, one token a line, in the fewest digits that read back as the same 32-bit floats. */
export function formatIdf(table: IdfTable, vocabulary: Vocabulary): string {
  requireSize(table, vocabulary);
  const lines = vocabulary.tokens.map((token, id) => `${JSON.stringify(token)}: ${formatFloat32(table.values[id])}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** Fails where a table was made for a vocabulary of another size. */
export function requireSize(table: IdfTable, vocabulary: Vocabulary): void {
  if (table.values.length !== vocabulary.size)
    throw new ShapeError(`the IDF table has ${table.values.length} weights, the vocabulary ${vocabulary.size} tokens`);
}

/**
 * Inverse document frequency of a collection, one document at a time.
 *
 *     idf[j] = ln(1 + (N − df_j + 0.5) / (df_j + 0.5))
 *
 * N documents, df_j of them hold token j. Counted over the unique non-special tokens of the untruncated text; special
 * tokens keep df = 0 and are weighed 0 by the query encoder anyway. Lucene's BM25 has the same formula.
 */
export class IdfCounter {
  readonly #tokenizer: Tokenizer;
  readonly #df: Uint32Array;
  /** Number of the last document that held a term, so that each document counts once. */
  readonly #lastDoc: Uint32Array;
  #numDocs = 0;

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
    this.#df = new Uint32Array(tokenizer.vocabulary.size);
    this.#lastDoc = new Uint32Array(tokenizer.vocabulary.size);
  }

  /** N: documents counted so far. */
  get numDocs(): number {
    return this.#numDocs;
  }

  /** df: in how many documents each term occurs. A copy. */
  documentFrequencies(): Uint32Array {
    return this.#df.slice();
  }

  /** Counts one document by its whole text. */
  add(text: string): void {
    this.addIds(this.#tokenizer.encode(text));
  }

  /** Counts one document by its term ids, untruncated; special tokens among them are passed over. */
  addIds(ids: ArrayLike<number>): void {
    const { specialIds, size } = this.#tokenizer.vocabulary;
    this.#numDocs++;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i];
      if (!(id >= 0 && id < size)) throw new ShapeError(`term id ${id} is outside the vocabulary of ${size} tokens`);
      if (this.#lastDoc[id] === this.#numDocs || specialIds.has(id)) continue;
      this.#lastDoc[id] = this.#numDocs;
      this.#df[id]++;
    }
  }

  /** The table of all documents counted so far. */
  table(): IdfTable {
    const N = this.#numDocs;
    if (N === 0) throw new IdfError('an IDF table needs at least one document, got none');
    return { values: Float32Array.from(this.#df, (df) => Math.log(1 + (N - df + 0.5) / (df + 0.5))) };
  }
}

/**
 * Blends two tables of one vocabulary, weight by weight.
 *
 *     idf[j] = (1 − s)·a[j] + s·b[j]
 *
 * @param share s, the share of `b`, from 0 (only `a`) to 1 (only `b`)
 */
export function blendIdf(a: IdfTable, b: IdfTable, share: number): IdfTable {
  if (a.values.length !== b.values.length)
    throw new ShapeError(`cannot blend IDF tables of ${a.values.length} and ${b.values.length} weights`);
  if (!(share >= 0 && share <= 1)) throw new IdfError(`the share of a blend is from 0 to 1, got ${share}`);
  return { values: a.values.map((weight, j) => (1 - share) * weight + share * b.values[j]) };
}
