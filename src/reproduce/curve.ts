/**
 * Series as curves over FLOPS, so that series can be compared where their points do not meet. Between neighbouring points NDCG is
 * linear in the logarithm of FLOPS; outside of a series' points it has no value.
 *
 *     y(x) = (1 − α)·y_a + α·y_b          α = (ln x − ln x_a)/(ln x_b − ln x_a)          x_a ≤ x ≤ x_b neighbours
 *
 * This is linear in y, so interpolating the NDCG of every query and taking the mean is the same as interpolating means.
 */

/** A point of a curve: FLOPS and NDCG. */
export type CurvePoint = { readonly x: number; readonly y: number };
/** Points by ascending x, all above 0 and different. */
export type Curve = readonly CurvePoint[];
/** From where to where. */
export type Range = { readonly low: number; readonly high: number };

/** How many places a range is compared at. */
const NUM_PLACES = 9;

/** A curve through points in any order; those with the same x become one, with the mean of their y. */
export function curveThrough(points: readonly CurvePoint[]): Curve {
  const sorted = points.filter(({ x }) => x > 0).sort((a, b) => a.x - b.x);
  if (sorted.every(({ x }, i) => i === 0 || x > sorted[i - 1].x)) return sorted;
  const byX = new Map<number, number[]>();
  for (const { x, y } of sorted) byX.set(x, [...(byX.get(x) ?? []), y]);
  return [...byX].map(([x, ys]) => ({ x, y: ys.reduce((sum, y) => sum + y, 0) / ys.length }));
}

/** y(x); undefined outside of the curve. */
export function valueAt(curve: Curve, x: number): number | undefined {
  const above = curve.findIndex((point) => point.x >= x);
  if (above === -1) return undefined;
  const b = curve[above];
  if (b.x === x) return b.y;
  if (above === 0) return undefined;
  const a = curve[above - 1];
  const alpha = (Math.log(x) - Math.log(a.x)) / (Math.log(b.x) - Math.log(a.x));
  return (1 - alpha) * a.y + alpha * b.y;
}

/** The FLOPS that all curves have; undefined where there are none. */
export function commonRange(curves: readonly Curve[]): Range | undefined {
  if (curves.some((curve) => curve.length === 0)) return undefined;
  const low = Math.max(...curves.map((curve) => curve[0].x));
  const high = Math.min(...curves.map((curve) => curve[curve.length - 1].x));
  return low < high ? { low, high } : undefined;
}

/** Places in a range at equal distances of the logarithm, its ends among them. */
export function placesIn({ low, high }: Range, count = NUM_PLACES): number[] {
  return Array.from({ length: count }, (_, i) => {
    if (i === 0) return low;
    if (i === count - 1) return high; // exactly, so that it lies on the curve
    return Math.exp(Math.log(low) + (i / (count - 1)) * (Math.log(high) - Math.log(low)));
  });
}

/**
 * How much higher one curve is than another at the same FLOPS: the mean of the difference over places of their common range.
 * Undefined where they have none.
 */
export function meanGap(a: Curve, b: Curve): number | undefined {
  const range = commonRange([a, b]);
  if (!range) return undefined;
  const gaps = placesIn(range).map((x) => (valueAt(a, x) ?? Number.NaN) - (valueAt(b, x) ?? Number.NaN));
  return gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
}

/** The least FLOPS at which a curve reaches an NDCG; undefined where it never does, or begins above it. */
export function costOf(curve: Curve, y: number): number | undefined {
  if (curve.length === 0 || curve[0].y > y) return undefined; // a curve that falls and comes back had y for less before
  for (let i = 1; i < curve.length; i++) {
    const [a, b] = [curve[i - 1], curve[i]];
    if (a.y > y || b.y < y) continue;
    const alpha = b.y === a.y ? 0 : (y - a.y) / (b.y - a.y);
    return Math.exp((1 - alpha) * Math.log(a.x) + alpha * Math.log(b.x));
  }
  return undefined;
}

/**
 * What one curve costs of another at the same NDCG: the mean of ln(FLOPS of a / FLOPS of b) over levels of NDCG that both reach.
 * Below 0: a is cheaper. Undefined where there is no such level.
 */
export function meanCostRatio(a: Curve, b: Curve): number | undefined {
  if (a.length < 2 || b.length < 2) return undefined;
  const low = Math.max(...[a, b].map((curve) => Math.min(...curve.map(({ y }) => y))));
  const high = Math.min(...[a, b].map((curve) => Math.max(...curve.map(({ y }) => y))));
  if (!(low < high)) return undefined;
  const ratios = Array.from(
    { length: NUM_PLACES },
    (_, i) => low + ((i + 1) / (NUM_PLACES + 1)) * (high - low),
  ).flatMap((y) => {
    const [own, other] = [costOf(a, y), costOf(b, y)];
    return own === undefined || other === undefined ? [] : [Math.log(own / other)];
  });
  return ratios.length === 0 ? undefined : ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
}

/** What a curve loses from the upper to the lower end of a range. */
export function lossOver(curve: Curve, { low, high }: Range): number | undefined {
  const [top, bottom] = [valueAt(curve, high), valueAt(curve, low)];
  return top === undefined || bottom === undefined ? undefined : top - bottom;
}

/** How much more one curve loses than another over their common range. Undefined where they have none. */
export function lossGap(a: Curve, b: Curve): number | undefined {
  const range = commonRange([a, b]);
  if (!range) return undefined;
  const [own, other] = [lossOver(a, range), lossOver(b, range)];
  return own === undefined || other === undefined ? undefined : own - other;
}
