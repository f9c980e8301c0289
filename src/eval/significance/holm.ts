/** Correction for many comparisons at once. */

/**
 * Holm's step-down correction: p values to compare with the level α as they are, such that the chance of any false
 * discovery among all m comparisons stays below α.
 *
 *     p_(1) ≤ … ≤ p_(m)          p̃_(i) = max_{j ≤ i} min(1, (m − j + 1)·p_(j))
 *
 * Holm, Scandinavian Journal of Statistics 6(2), 1979. As statsmodels' multipletests(method='holm').
 *
 * @returns adjusted values, in the order of `ps`
 */
export function holm(ps: readonly number[]): number[] {
  const order = ps.map((_, i) => i).sort((a, b) => ps[a] - ps[b]);
  const adjusted = new Array<number>(ps.length);
  let largest = 0;
  order.forEach((at, i) => {
    largest = Math.max(largest, Math.min(1, (ps.length - i) * ps[at])); // i from 0: m − (i + 1) + 1
    adjusted[at] = largest;
  });
  return adjusted;
}
