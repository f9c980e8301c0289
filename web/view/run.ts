/** A run as the page knows it: its rows, everything else of it, and what is computed from both. */
import type { RunDetails, RunHead } from '../../src/view/index.ts';
import { type Curve, firstNotBelow, Smoothed } from './curves.ts';
import { Extremes } from './extremes.ts';
import { Rows } from './rows.ts';

/** What the horizontal axis counts. */
export type Axis = 'step' | 'time';

/** One run. */
export class Run {
  readonly id: number;
  head: RunHead;
  details: RunDetails | undefined;
  readonly rows = new Rows();
  readonly #smoothed = new Map<string, Smoothed>();
  readonly #extremes = new Map<string, Extremes>();
  #seconds = new Float64Array(0);
  #numTimed = 0;
  #generation = -1;

  constructor(head: RunHead) {
    this.id = head.id;
    this.head = head;
  }

  get name(): string {
    return this.head.name;
  }

  /** Steps that the run will have; NaN until it says so. */
  get numSteps(): number {
    return numberAt(this.details?.config, 'optim', 'steps');
  }

  /** A metric over steps or time; smoothed over so many logged steps, 1 for as it is. */
  curve(name: string, { axis, window }: { readonly axis: Axis; readonly window: number }): Curve | undefined {
    this.#forgetOldRows();
    const ys = this.rows.column(name);
    const xs = axis === 'step' ? this.rows.column('step') : this.#times();
    if (ys === undefined || xs === undefined) return undefined;
    const { numRows } = this.rows;
    const drawn =
      window <= 1 ? ys : this.#kept(this.#smoothed, `${window} ${name}`, () => new Smoothed(window)).over(ys, numRows);
    const extremes = this.#kept(this.#extremes, `${window} ${name}`, () => new Extremes()).over(drawn, numRows);
    return { xs, ys: drawn, numPoints: numRows, extremes };
  }

  /** Where a step is on an axis. */
  place(step: number, axis: Axis): number {
    const steps = this.rows.column('step');
    if (axis === 'step' || steps === undefined) return step;
    const row = Math.min(firstNotBelow(steps, this.rows.numRows, step), this.rows.numRows - 1);
    return this.#times()[row] ?? 0;
  }

  /** What is computed bit by bit as rows come. */
  #kept<T>(all: Map<string, T>, key: string, make: () => T): T {
    const kept = all.get(key) ?? make();
    all.set(key, kept);
    return kept;
  }

  #forgetOldRows(): void {
    if (this.#generation === this.rows.generation) return;
    this.#generation = this.rows.generation;
    this.#smoothed.clear();
    this.#extremes.clear();
    this.#numTimed = 0;
  }

  /**
   * Seconds that the steps have taken up to each row, without evaluations and pauses, from the pace of each line:
   * t_i = t_{i−1} + (steps since the line before · documents a step) / (documents a second).
   */
  #times(): Float64Array {
    this.#forgetOldRows();
    const [steps, pace] = [this.rows.column('step'), this.rows.column('docsPerSecond')];
    if (!steps || !pace) return this.#seconds;
    if (this.#seconds.length < steps.length) {
      const larger = new Float64Array(steps.length);
      larger.set(this.#seconds);
      this.#seconds = larger;
    }
    const docsPerStep = this.#docsPerStep();
    for (let i = this.#numTimed; i < this.rows.numRows; i++) {
      const took = ((steps[i] - (i === 0 ? 0 : steps[i - 1])) * docsPerStep) / pace[i];
      this.#seconds[i] = (i === 0 ? 0 : this.#seconds[i - 1]) + (took > 0 && took < 1e9 ? took : 1e-9);
    }
    this.#numTimed = this.rows.numRows;
    return this.#seconds;
  }

  #docsPerStep(): number {
    const config = this.details?.config;
    return numberAt(config, 'optim', 'batchQueries') * numberAt(config, 'data', 'docsPerQuery');
  }
}

/** A number in a nested object; NaN where there is none. */
export function numberAt(object: unknown, ...path: string[]): number {
  let value = object;
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return typeof value === 'number' ? value : Number.NaN;
}
