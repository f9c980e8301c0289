/**
 * How fast the engine multiplies matrices at its best, as a contender (contender.ts): `tsx bench/lib/product-rate.ts THREADS`.
 * Products of feed-forward layers, [2048, 384]·[384, 1536] and back, one after the other in one graph, so that nothing is
 * copied between them. Each request answers the mean time of one.
 */
import { createInterface } from 'node:readline';
import { Random } from '../../src/core/index.ts';
import { DirectSession, GraphBuilder, matMul, toOnnx } from '../../src/graph/index.ts';
import { PRODUCT } from './training-setting.ts';

const REPEATS = 5;
/** Of a graph; there and back is two. */
const NUM_PRODUCTS = 20;
const { rows, inner, columns } = PRODUCT;
const g = new GraphBuilder('products');
const there = g.input('there', 'float32', [inner, columns]);
const back = g.input('back', 'float32', [columns, inner]);
let x = g.input('x', 'float32', [rows, inner]);
for (let i = 0; i < NUM_PRODUCTS / 2; i++) x = matMul(g, matMul(g, x, there), back);
g.output('z', x);
const session = await DirectSession.create(toOnnx(g), { threads: Number(process.argv[2]) });
const random = new Random(1);
/** Of a size that products keep: numbers that shrink to almost nothing are slow. */
const floats = (...dims: [number, number]) => {
  const scale = Math.sqrt(12 / dims[0]);
  const data = Float32Array.from({ length: dims[0] * dims[1] }, () => scale * (random.uniform() - 0.5));
  return { dtype: 'float32', dims, data } as const;
};
const feeds = { x: floats(rows, inner), there: floats(inner, columns), back: floats(columns, inner) };
const into = { z: floats(rows, inner) };

console.log(JSON.stringify({ ready: true }));
for await (const _ of createInterface({ input: process.stdin })) {
  const start = performance.now();
  for (let i = 0; i < REPEATS; i++) await session.run(feeds, into);
  console.log(JSON.stringify({ ms: (performance.now() - start) / (REPEATS * NUM_PRODUCTS) }));
}
await session.close();
