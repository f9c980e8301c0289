import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { Better, FigurePoint } from './figure.ts';
import { paretoFront } from './pareto-front.ts';

const at = (x: number, y: number): FigurePoint => ({ x, y, label: `${x} ${y}` });

/** By the definition, every pair. */
function bruteForce(points: readonly FigurePoint[], better: Better): FigurePoint[] {
  const gain = (axis: 'x' | 'y', q: FigurePoint, p: FigurePoint): number =>
    better[axis] === 'more' ? q[axis] - p[axis] : p[axis] - q[axis];
  const beats = (q: FigurePoint, p: FigurePoint): boolean =>
    gain('x', q, p) >= 0 && gain('y', q, p) >= 0 && (gain('x', q, p) > 0 || gain('y', q, p) > 0);
  return points.filter((p) => !points.some((q) => beats(q, p)));
}

const byPlace = (p: FigurePoint, q: FigurePoint): number => p.x - q.x || p.y - q.y;
const direction = fc.constantFrom('less' as const, 'more' as const);
// Few values, so that ties and equal points are common.
const value = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true, noDefaultInfinity: true }));

describe('the Pareto front', () => {
  it('of cost against quality: the cheapest, and whatever is dearer and better', () => {
    const [cheap, worse, good, dear] = [at(1, 0.3), at(2, 0.2), at(2, 0.5), at(3, 0.5)];
    expect(paretoFront([dear, good, worse, cheap], { x: 'less', y: 'more' })).toEqual([cheap, good]);
    expect(paretoFront([dear, good, worse, cheap], { x: 'more', y: 'less' })).toEqual([worse, dear]);
  });

  test.prop([fc.array(fc.tuple(value, value), { maxLength: 40 }), direction, direction])(
    'is what comparing all pairs leaves, by x, the same objects, equal ones all',
    (places, x, y) => {
      const points = places.map(([a, b]) => at(a, b));
      const front = paretoFront(points, { x, y });
      expect(new Set(front)).toEqual(new Set(bruteForce(points, { x, y })));
      expect(front).toHaveLength(bruteForce(points, { x, y }).length);
      expect(front).toEqual(front.toSorted(byPlace));
      expect(front.every((point) => points.includes(point))).toBe(true);
    },
  );
});
