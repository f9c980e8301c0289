/**
 * How many samples each line of a file gives, as runs of equal numbers: a file of lists of one length is a single run, and
 * the worst case is one run a line (16 bytes, of lines of thousands). With it lines are passed over without being parsed.
 */

/** Samples by line; 0 for lines that are left out. Lines are added in their order. */
export class SampleCounts {
  readonly #counts: number[] = [];
  readonly #lengths: number[] = [];
  /** Lines that give samples. */
  numExamples = 0;
  /** Samples of all lines. */
  numSamples = 0;

  /** Notes how many samples the next line gives. */
  add(count: number): void {
    const last = this.#counts.length - 1;
    if (this.#counts[last] === count) this.#lengths[last]++;
    else {
      this.#counts.push(count);
      this.#lengths.push(1);
    }
    this.numSamples += count;
    if (count > 0) this.numExamples++;
  }

  /** The counts of all lines in their order. */
  *[Symbol.iterator](): Generator<number, void> {
    for (const [run, count] of this.#counts.entries()) for (let i = 0; i < this.#lengths[run]; i++) yield count;
  }
}
