/**
 * BM25 of documents that pass by: no index, and memory for the query alone. Two passes over the same documents: `count`
 * each, then `score` each. Scores are those of an index of them, to the bit.
 */
import { lengthToByte } from './length-byte.ts';
import { type Bm25Parameters, inverseDocumentFrequency, inverseNorms, termScore } from './similarity.ts';

/** Scores documents for one query. */
export class PassingBm25 {
  /** c_t of each distinct word of the query, and its place below. */
  readonly #words = new Map<string, { count: number; readonly at: number }>();
  readonly #dfs: Uint32Array;
  readonly #tfs: Uint32Array;
  readonly #parameters: Bm25Parameters;
  #numFilled = 0;
  #sumLengths = 0;
  #prepared: { readonly weights: Float32Array; readonly inverseNorms: Float32Array } | undefined;

  constructor(query: readonly string[], parameters: Bm25Parameters) {
    for (const word of query) {
      const known = this.#words.get(word);
      if (known) known.count++;
      else this.#words.set(word, { count: 1, at: this.#words.size });
    }
    this.#dfs = new Uint32Array(this.#words.size);
    this.#tfs = new Uint32Array(this.#words.size);
    this.#parameters = parameters;
  }

  /** First pass: takes the words of a document into the statistics. */
  count(document: readonly string[]): void {
    if (document.length === 0) return;
    this.#numFilled++;
    this.#sumLengths += document.length;
    this.#findWords(document);
    this.#tfs.forEach((tf, at) => {
      if (tf > 0) this.#dfs[at]++;
    });
  }

  /** Second pass: the score of a document; undefined where it has no word of the query. */
  score(document: readonly string[]): number | undefined {
    this.#findWords(document);
    if (this.#tfs.every((tf) => tf === 0)) return undefined;
    this.#prepared ??= this.#prepare();
    const { weights, inverseNorms: norms } = this.#prepared;
    const norm = norms[lengthToByte(document.length)];
    let sum = 0;
    for (let at = 0; at < weights.length; at++)
      if (this.#tfs[at] > 0) sum += termScore(weights[at], this.#tfs[at], norm);
    return Math.fround(sum);
  }

  #findWords(document: readonly string[]): void {
    this.#tfs.fill(0);
    for (const word of document) {
      const found = this.#words.get(word);
      if (found) this.#tfs[found.at]++;
    }
  }

  #prepare() {
    const statistics = { numFilled: this.#numFilled, sumLengths: this.#sumLengths };
    const weights = new Float32Array(this.#words.size);
    for (const { count, at } of this.#words.values())
      weights[at] = count * inverseDocumentFrequency(this.#numFilled, this.#dfs[at]);
    return { weights, inverseNorms: inverseNorms(statistics, this.#parameters) };
  }
}
