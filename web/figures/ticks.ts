/** Where the numbers of an axis stand. */
import type { DrawnAxis } from '../../src/figures/drawing.ts';
import { linearTicks } from '../view/ticks.ts';

/** Multiples of powers of ten, the more first. */
const FACTORS = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3], [1]];

/**
 * Round numbers within the range of an axis of so many pixels, at least `gap` pixels apart. Plot's own for logarithmic axes
 * have a line for each, a number for some, and thousandths as "1m".
 */
export function ticksOf({ scale, domain: [low, high] }: DrawnAxis, pixels: number, gap: number): number[] {
  if (scale === 'linear') return linearTicks(low, high, pixels / gap);
  const perDecade = pixels / Math.log10(high / low);
  const isWide = (ticks: readonly number[]): boolean =>
    ticks.every((tick, i) => i === 0 || perDecade * Math.log10(tick / ticks[i - 1]) >= gap);
  const some = FACTORS.map((factors) => multiples(factors, low, high)).find(
    (ticks) => ticks.length > 1 && isWide(ticks),
  );
  // Less than a decade without two such numbers is nearly linear; so many decades that powers are close have every second.
  if (some) return some;
  const powers = multiples([1], low, high);
  if (powers.length < 2) return linearTicks(low, high, pixels / gap);
  const every = Math.ceil(gap / perDecade);
  return powers.filter((_, i) => i % every === 0);
}

/** How they are written: on a linear axis all with as many decimals, on a logarithmic one each as short as it is. */
export function tickFormat({ scale }: DrawnAxis, ticks: readonly number[]): (tick: number) => string {
  if (scale === 'log') return String;
  const decimals = Math.max(...ticks.map((tick) => String(tick).split(/[.e]/)[1]?.length ?? 0));
  return (tick) => (String(tick).includes('e') ? String(tick) : tick.toFixed(decimals));
}

function multiples(factors: readonly number[], low: number, high: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  // By its decimal name: 3 · 10⁻¹ is not 0.3.
  const all = powers.flatMap((power) => factors.map((factor) => Number(`${factor}e${power}`)));
  return all.filter((tick) => tick >= low && tick <= high);
}
