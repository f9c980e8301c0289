/**
 * One pass over the samples of a file in an order that a seed decides. Holds a window of raw lines; each draw takes one of
 * all samples in the window that are left, and where a line has none left, the next line of the file comes in. Knows
 * nothing of what lines mean: drawn samples are parsed by the caller, passed ones by nobody.
 *
 *     file   ───▶ [ line 812 ×50 | line 9 ×3 | line 640 ×21 | … ] ───▶ (line 640, sample 17)
 *                   at most maxLines lines and MAX_HELD_CHARS characters
 *
 * A window as large as the file makes every order equally likely; a smaller one keeps far-apart lines apart.
 */
import type { Random } from '../../core/index.ts';
import { BadLine, type Line } from '../../data/index.ts';

/** A sample that nobody has parsed yet. */
export type RawSample = { readonly line: number; readonly text: string; readonly index: number };

type HeldLine = { readonly number: number; readonly text: string; numLeft: number };

/** A window of 10,000 lists of 100 passages would be 400 MB of text: this bounds it at 256 MB, 512 beyond Latin-1. */
const MAX_HELD_CHARS = 256 * 1024 * 1024;

/** What a pass reads and in which order. */
export type PassOptions = {
  /** Lines of the file, as `readLines` gives them. */
  readonly lines: AsyncGenerator<Line[]>;
  /** Samples of each line, in their order. */
  readonly counts: Iterable<number>;
  readonly random: Random;
  /** Lines in the window. */
  readonly maxLines: number;
  readonly maxChars?: number | undefined;
};

/** Draws the samples of a file, each once. Close it where it is not read to the end. */
export class ShuffledPass {
  readonly #lines: AsyncGenerator<Line[]>;
  readonly #counts: Iterator<number>;
  readonly #random: Random;
  readonly #maxLines: number;
  readonly #maxChars: number;
  /** Lines that were read and are not in the window yet, and the place of the next. */
  #read: Line[] = [];
  #nextRead = 0;
  #isOver = false;
  /** The window: what is left of each line. */
  readonly #samples: { readonly line: HeldLine; readonly index: number }[] = [];
  #numLines = 0;
  #numChars = 0;

  constructor({ lines, counts, random, maxLines, maxChars = MAX_HELD_CHARS }: PassOptions) {
    this.#lines = lines;
    this.#counts = counts[Symbol.iterator]();
    this.#random = random;
    this.#maxLines = maxLines;
    this.#maxChars = maxChars;
  }

  /** The next sample; undefined after the last. */
  async next(): Promise<RawSample | undefined> {
    if (this.#hasRoom()) await this.#fill();
    return this.#draw();
  }

  /** Passes over the next samples. */
  async skip(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      if (this.#hasRoom()) await this.#fill();
      this.#draw();
    }
  }

  /** Closes the file. */
  async close(): Promise<void> {
    await this.#lines.return(undefined);
  }

  #hasRoom(): boolean {
    return !this.#isOver && this.#numLines < this.#maxLines && this.#numChars < this.#maxChars;
  }

  async #fill(): Promise<void> {
    while (this.#hasRoom()) {
      if (this.#nextRead < this.#read.length) this.#hold(this.#read[this.#nextRead++]);
      else {
        const { value, done } = await this.#lines.next();
        this.#read = done ? [] : value;
        this.#nextRead = 0;
        this.#isOver = done === true;
      }
    }
  }

  #hold({ number, text }: Line): void {
    const count = this.#counts.next().value ?? 0; // lines that the file did not have when they were counted: none
    if (count === 0 || text instanceof BadLine) return;
    const line = { number, text, numLeft: count };
    for (let index = 0; index < count; index++) this.#samples.push({ line, index });
    this.#numLines++;
    this.#numChars += text.length;
  }

  #draw(): RawSample | undefined {
    if (this.#samples.length === 0) return undefined;
    const at = this.#random.below(this.#samples.length);
    const { line, index } = this.#samples[at];
    const last = this.#samples.pop();
    if (last !== undefined && at < this.#samples.length) this.#samples[at] = last;
    line.numLeft--;
    if (line.numLeft === 0) {
      this.#numLines--;
      this.#numChars -= line.text.length;
    }
    return { line: line.number, text: line.text, index };
  }
}
