/** A series of numbers as a row of small bars. */

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
