/** A host that ends its work in the middle of a run of the engine, in the way its argument says; for engine-exit.test.ts. */
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
const runs = Promise.allSettled([run(), run(), run()].map((result, i) => (i === 0 ? result.then(end) : result)));

/** The first run has ended, so the thread is at the second. */
async function end(): Promise<void> {
  if (process.argv[2] === 'exit') process.exit(0);
  if (process.argv[2] === 'throw') setImmediate(() => JSON.parse('uncaught'));
  await Promise.all([session.close(), session.close()]);
}

const outcomes = await runs;
const third = outcomes[2];
console.log(outcomes[0].status, third.status === 'rejected' ? third.reason.message : third.status);
