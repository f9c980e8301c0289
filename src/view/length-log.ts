/** How long documents were, at every logged step: histograms with few bins each, packed into three arrays. */

/** Documents of the lines that a histogram is summed over, at least: fewer would show chance. */
const ENOUGH_DOCS = 500;

/** How many documents have how many terms. */
export type LengthHistogramAt = {
  /** The steps that it covers: after the first up to the last. */
  readonly afterStep: number;
  readonly step: number;
  /** Shortest length of each bin, ascending, and its documents. */
  readonly bins: readonly number[];
  readonly counts: readonly number[];
};

/** Histograms by step. */
export class LengthLog {
  readonly #steps: number[] = [];
  /** Where the bins of a line end. */
  readonly #ends: number[] = [];
  readonly #bins: number[] = [];
  readonly #counts: number[] = [];

  /** Adds the histogram of a line, whose step is above all before; bins by their shortest length. */
  add(step: number, docLens: Readonly<Record<string, unknown>>): void {
    for (const [bin, count] of Object.entries(docLens)) {
      if (!/^\d{1,9}$/.test(bin) || typeof count !== 'number' || !(count > 0)) continue;
      this.#bins.push(Number(bin));
      this.#counts.push(count);
    }
    this.#steps.push(step);
    this.#ends.push(this.#bins.length);
  }

  /** The histogram of the line at a step, and of as many lines before as it takes to see more than chance. */
  at(step: number): LengthHistogramAt | undefined {
    const last = this.#lineAt(step);
    if (last < 0) return undefined;
    const sum = new Map<number, number>();
    let numDocs = 0;
    let line = last;
    for (; line >= 0 && numDocs < ENOUGH_DOCS; line--)
      for (let i = this.#ends[line - 1] ?? 0; i < this.#ends[line]; i++) {
        sum.set(this.#bins[i], (sum.get(this.#bins[i]) ?? 0) + this.#counts[i]);
        numDocs += this.#counts[i];
      }
    const bins = [...sum.keys()].sort((a, b) => a - b);
    const counts = bins.map((bin) => sum.get(bin) ?? 0);
    return { afterStep: this.#steps[line] ?? 0, step: this.#steps[last], bins, counts };
  }

  /** The newest line that is not after a step, by halving; −1 where there is none. */
  #lineAt(step: number): number {
    let [low, high] = [0, this.#steps.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#steps[middle] <= step) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
