/**
 * How fast the engine multiplies matrices at its best, as a contender (contender.ts): `tsx bench/lib/product-rate.ts THREADS`.
 * One product of a feed-forward layer, [2048, 384]·[384, 1536], by itself. Each request answers the mean time of one.
 */
import { createInterface } from 'node:readline';
import { DirectSession, GraphBuilder, matMul, toOnnx } from '../../src/graph/index.ts';
import { PRODUCT } from './training-setting.ts';

const REPEATS = 50;
const { rows, inner, columns } = PRODUCT;
const g = new GraphBuilder('product');
g.output('z', matMul(g, g.input('x', 'float32', [rows, inner]), g.input('y', 'float32', [inner, columns])));
const session = await DirectSession.create(toOnnx(g), { threads: Number(process.argv[2]) });
const floats = (...dims: [number, number]) => {
  const data = Float32Array.from({ length: dims[0] * dims[1] }, (_, i) => Math.sin(i));
  return { dtype: 'float32', dims, data } as const;
};
const feeds = { x: floats(rows, inner), y: floats(inner, columns) };
const into = { z: floats(rows, columns) };

console.log(JSON.stringify({ ready: true }));
for await (const _ of createInterface({ input: process.stdin })) {
  const start = performance.now();
  for (let i = 0; i < REPEATS; i++) await session.run(feeds, into);
  console.log(JSON.stringify({ ms: (performance.now() - start) / REPEATS }));
}
await session.close();
