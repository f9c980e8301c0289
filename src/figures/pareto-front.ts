/** The best trade-offs among points. Runs in a browser, too: the page asks again when a series is hidden. */
import type { Better, FigurePoint } from './figure.ts';

/**
 * The points that no other beats on both axes, by x.
 *
 *     q beats p  ⇔  q ≥ p on both axes, and q > p on one          (≥, >: as good as, better than)
 *
 * Equal points do not beat each other: both stay. Collapsed points count like others; leave them out where a model that
 * finds nothing at no cost is no trade-off.
 */
export function paretoFront(points: readonly FigurePoint[], better: Better): FigurePoint[] {
  const [signX, signY] = [better.x === 'less' ? 1 : -1, better.y === 'less' ? 1 : -1];
  // From the best x on: a point is on the front if its y is better than all before, or if it equals the last that was.
  const ordered = points.toSorted((p, q) => signX * (p.x - q.x) || signY * (p.y - q.y));
  const front: FigurePoint[] = [];
  for (const point of ordered) {
    const last = front.at(-1);
    const isEqual = last?.x === point.x && last.y === point.y;
    if (!last || isEqual || signY * point.y < signY * last.y) front.push(point);
  }
  return front.sort((p, q) => p.x - q.x || p.y - q.y);
}
