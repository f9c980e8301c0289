/** Series of numbers: kept in little memory, and drawn as a row of small bars. */

const BARS = '▁▂▃▄▅▆▇█';

/** The series in `width` bars, each the mean of its share; from the least to the largest number. Empty for no numbers. */
export function sparkline(values: readonly number[], width: number): string {
  const means = inGroups(values, Math.min(width, values.length));
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const heightOf = (value: number): number =>
    most > least ? Math.round(((value - least) / (most - least)) * (BARS.length - 1)) : 0;
  return means.map((value) => BARS[heightOf(value)]).join('');
}

function inGroups(values: readonly number[], numGroups: number): number[] {
  return Array.from({ length: numGroups }, (_, i) => {
    const begin = Math.floor((i * values.length) / numGroups);
    const end = Math.floor(((i + 1) * values.length) / numGroups);
    const group = values.slice(begin, end);
    return group.reduce((sum, value) => sum + value, 0) / group.length;
  });
}

/** A series that may become long: points are means of as many numbers each, ever more of them. */
export class Curve {
  readonly #maxPoints: number;
  #points: number[] = [];
  /** Numbers of a point. */
  #stride = 1;
  #pending = { sum: 0, count: 0 };

  constructor(maxPoints: number) {
    this.#maxPoints = maxPoints;
  }

  /** The points so far; the last few numbers may be missing. */
  get points(): readonly number[] {
    return this.#points;
  }

  /** Takes one number in. */
  add(value: number): void {
    this.#pending = { sum: this.#pending.sum + value, count: this.#pending.count + 1 };
    if (this.#pending.count < this.#stride) return;
    this.#points.push(this.#pending.sum / this.#stride);
    this.#pending = { sum: 0, count: 0 };
    if (this.#points.length < this.#maxPoints) return;
    this.#points = inGroups(this.#points, this.#maxPoints >> 1);
    this.#stride *= 2;
  }
}
