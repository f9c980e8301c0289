/**
 * Broadcasting, forwards and backwards. Forwards a value is repeated along a dimension until it fits; backwards its
 * gradient is the sum over the repetitions. Names of dimensions decide where they can; the run decides the rest.
 */
import { ShapeError } from '../../core/index.ts';
import type { GraphBuilder } from '../builder.ts';
import type { Dim, Value } from '../value.ts';

/** A value as errors show it. */
export function describe({ name, shape }: Value): string {
  return `${name}[${shape.join(', ')}]`;
}

/**
 * The shape of an elementwise result, by numpy's rule: dimensions are equal from the right, or one of them is 1. Unequal
 * ones of which one has a name are the engine's to check.
 */
export function broadcast(a: readonly Dim[], b: readonly Dim[], what: string): Dim[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const x = a[a.length - rank + i] ?? 1;
    const y = b[b.length - rank + i] ?? 1;
    if (typeof x === 'number' && typeof y === 'number' && x !== y && x !== 1 && y !== 1)
      throw new ShapeError(`${what}: dimensions ${x} and ${y} differ and neither is 1`);
    // A name beside a number above 1 can only stand for that number, or for 1.
    if (typeof x === 'string' && typeof y === 'number') return y === 1 ? x : y;
    return x === 1 ? y : x;
  });
}

/** What happened to one dimension of x beside its partner's; undefined for a dimension that x does not have. */
type Repetition = 'none' | 'along' | 'new' | 'open';

/** Elementwise functions of any number of arguments, broadcast. */
export function elementwise(g: GraphBuilder, op: string, xs: readonly Value[], dtype = xs[0].dtype): Value {
  const what = () => `${op} of ${xs.map(describe).join(' and ')}`;
  const shape = xs.map((x) => x.shape).reduce<readonly Dim[]>((a, b) => broadcast(a, b, what()), []);
  return g.node(op, xs, { dtype, shape });
}

/**
 * The gradient of x, given dy over the shape that x was broadcast to: the sum over repetitions.
 *
 * @param partner the shape that x met; with names that differ, whether x was repeated shows only when the graph runs
 */
export function sumTo(g: GraphBuilder, dy: Value, { x, partner }: { x: Value; partner: readonly Dim[] }): Value {
  const repetitions = dy.shape.map((_, i) =>
    repetition(x.shape[i - dy.shape.length + x.shape.length], partner[i - dy.shape.length + partner.length] ?? 1),
  );
  if (repetitions.includes('open')) return sumToShape(g, dy, x);
  const along = placesOf(repetitions, 'along');
  const fresh = placesOf(repetitions, 'new');
  const kept = along.length === 0 ? dy : sum(g, dy, { axes: along, keep: true });
  return fresh.length === 0 ? kept : sum(g, kept, { axes: fresh, keep: false });
}

function repetition(x: Dim | undefined, partner: Dim): Repetition {
  if (x === undefined) return 'new';
  if (x === 1) return partner === 1 ? 'none' : 'along';
  return typeof x === 'number' || partner === x || partner === 1 ? 'none' : 'open';
}

function placesOf(repetitions: readonly Repetition[], wanted: Repetition): number[] {
  return repetitions.flatMap((r, i) => (r === wanted ? [i] : []));
}

/** Σ over some axes, which stay as 1 or disappear. */
export function sum(g: GraphBuilder, x: Value, { axes, keep }: { axes: readonly number[]; keep: boolean }): Value {
  const shape = x.shape.flatMap((dim, i) => (axes.includes(i) ? (keep ? [1] : []) : [dim]));
  const attributes = { keepdims: keep ? 1 : 0 };
  return g.node('ReduceSum', [x, g.ints(...axes)], { dtype: x.dtype, shape }, { attributes });
}

/** The same where the run must tell: sums over the axes in which the sizes of dy and x differ. */
function sumToShape(g: GraphBuilder, dy: Value, x: Value): Value {
  const rank = dy.shape.length;
  const int64 = (...shape: Dim[]) => ({ dtype: 'int64', shape }) as const;
  const sizes = g.node('Shape', [x], int64(x.shape.length));
  const ones = g.ints(...new Array<number>(rank - x.shape.length).fill(1));
  const padded = g.node('Concat', [ones, sizes], int64(rank), { attributes: { axis: 0 } });
  const same = elementwise(g, 'Equal', [padded, g.node('Shape', [dy], int64(rank))], 'bool');
  const places = g.node('NonZero', [elementwise(g, 'Not', [same])], int64(1, 'axes'));
  const axes = g.node('Squeeze', [places, g.ints(0)], int64('axes'));
  const attributes = { keepdims: 1, noop_with_empty_axes: 1 };
  const summed = g.node('ReduceSum', [dy, axes], { dtype: dy.dtype, shape: dy.shape }, { attributes });
  return g.node('Reshape', [summed, sizes], x);
}
