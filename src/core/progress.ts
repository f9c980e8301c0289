/**
 * Progress of long work: an interface that the library reports to, and the arithmetic of rate and time left. Drawing is
 * the terminal's business (src/cli/terminal.ts), and so is the clock: times come in from outside.
 */

/** Told how far a piece of work is. */
export type Progress = {
  /** Work begins. `total` is unknown for streams. `unit` is plural: "documents". */
  start(work: {
    readonly label: string;
    readonly unit: string;
    readonly total?: number | undefined;
    readonly done?: number | undefined;
  }): void;
  /** `done` units are finished in all; `meanwhile` is what goes on until there are more, where that takes long. */
  update(done: number, meanwhile?: string): void;
  /** The work is over, finished or not. */
  stop(): void;
};

const ignore = (): void => {};

/** Shows nothing. The default everywhere. */
export const silentProgress: Progress = { start: ignore, update: ignore, stop: ignore };

/** Rate over the last stretch of work and the time left at that rate. */
export class RateMeter {
  /** (time, done) pairs, oldest first; at most WINDOW seconds back. */
  readonly #marks: { timeMs: number; done: number }[] = [];
  static readonly #WINDOW_MS = 30_000;

  /** Notes that `done` units were finished at `timeMs`. */
  mark(timeMs: number, done: number): void {
    this.#marks.push({ timeMs, done });
    while (this.#marks.length > 2 && timeMs - this.#marks[1].timeMs > RateMeter.#WINDOW_MS) this.#marks.shift();
  }

  /** Units a second, or undefined before there are two marks apart in time. */
  get perSecond(): number | undefined {
    const first = this.#marks[0];
    const last = this.#marks.at(-1);
    if (!first || !last || last.timeMs <= first.timeMs) return undefined;
    return ((last.done - first.done) * 1000) / (last.timeMs - first.timeMs);
  }

  /** Seconds until `total`, or undefined where the rate is unknown or zero. */
  secondsLeft(total: number): number | undefined {
    const rate = this.perSecond;
    const last = this.#marks.at(-1);
    if (!rate || !last) return undefined;
    return Math.max(0, (total - last.done) / rate);
  }
}
