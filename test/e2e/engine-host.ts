/** A host that ends its work in the middle of a run of the engine, in the way its argument says; for engine-exit.test.ts. */
import { writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { GraphBuilder, matMul, reduce, Session, toOnnx } from '../../src/graph/index.ts';

const SIZE = 1000;

/** A graph of which one run takes a good part of a second. */
function slowGraph(): GraphBuilder {
  const g = new GraphBuilder('slow');
  const x = g.input('x', 'float32', [SIZE, SIZE]);
  let product = x;
  for (let i = 0; i < 10; i++) product = matMul(g, product, x);
  g.output('y', reduce(g, product, { op: 'ReduceMax', axis: 1 }));
  return g;
}

const session = await Session.start();
await session.load({ bytes: toOnnx(slowGraph()) }, { threads: 1 });
const data = new Float32Array(SIZE * SIZE).fill(1 / SIZE);
const run = () => session.run({ x: { dtype: 'float32', dims: [SIZE, SIZE], data } });

/** How long a run takes here and now; the first one warms up. */
async function timeRun(): Promise<number> {
  await run();
  const began = performance.now();
  await run();
  return performance.now() - began;
}

const runMs = await timeRun();
const runs = Promise.allSettled([run(), run()]);
await setTimeout(runMs / 4); // the thread has begun the first of them at once, and is far from its end

let exitBegan = 0;
process.prependListener('exit', () => {
  exitBegan = performance.now();
});
// Comes after the listener of the session, which waits for the run.
process.on('exit', () => {
  if (performance.now() - exitBegan > runMs / 10) writeSync(1, 'waited for the run\n');
});
if (process.argv[2] === 'exit') process.exit(0);
if (process.argv[2] === 'throw') setImmediate(() => JSON.parse('uncaught'));
else {
  await Promise.all([session.close(), session.close()]);
  const [begun, waiting] = await runs;
  console.log(begun.status, waiting.status === 'rejected' ? waiting.reason.message : waiting.status);
}
