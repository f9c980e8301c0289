/**
 * How long a point has taken, over all calls that have worked at it: what a stop or a kill has cut short is kept in a file.
 *
 *     points/NAME.seconds.json     { training, measuring }
 */
import { renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { parseJson, ResumeError } from '../core/index.ts';
import { readIfExists } from '../files/index.ts';

/** Seconds of training, and of measuring after it. */
export type Seconds = { readonly training: number; readonly measuring: number };

const secondsSchema = z.object({ training: z.number().min(0), measuring: z.number().min(0) });

/** What a kill may cost. */
const KEEP_EVERY_MS = 5000;

/** A clock that goes on where an earlier call has stopped. */
export class SpentTime {
  readonly #path: string;
  readonly #clock: () => number;
  readonly #seconds: { training: number; measuring: number };
  #kind: keyof Seconds = 'training';
  #lastMs: number;
  #keptMs: number;

  /** Reads what earlier calls have spent, and begins to count training. */
  static async open(path: string, clock: () => number): Promise<SpentTime> {
    const text = await readIfExists(path);
    const parsed = secondsSchema.safeParse(
      text === undefined
        ? { training: 0, measuring: 0 }
        : parseJson(text, (problem) => new ResumeError(`${path}: ${problem}`)),
    );
    if (!parsed.success) throw new ResumeError(`${path} does not say how many seconds a point has taken`);
    return new SpentTime(path, clock, parsed.data);
  }

  private constructor(path: string, clock: () => number, before: Seconds) {
    this.#path = path;
    this.#clock = clock;
    this.#seconds = { ...before };
    this.#lastMs = this.#keptMs = clock();
  }

  /** Counts as measuring from now on. */
  measure(): void {
    this.#count();
    this.#kind = 'measuring';
  }

  /** Told often; keeps what was spent once in a while, for whoever goes on after a kill. */
  tick(): void {
    if (this.#clock() - this.#keptMs >= KEEP_EVERY_MS) this.keep();
  }

  /** Writes down what was spent so far, and gives it. Not in the background: the next thing to come may be a kill. */
  keep(): Seconds {
    this.#count();
    this.#keptMs = this.#lastMs;
    writeFileSync(`${this.#path}.tmp`, `${JSON.stringify(this.#seconds)}\n`);
    renameSync(`${this.#path}.tmp`, this.#path);
    return { ...this.#seconds };
  }

  #count(): void {
    const now = this.#clock();
    this.#seconds[this.#kind] += (now - this.#lastMs) / 1000;
    this.#lastMs = now;
  }
}
