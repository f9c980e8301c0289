import { describe, expect, it } from 'vitest';
import { compute, floats, floatsOf } from '../../test/golden/model/fixtures.ts';
import { EngineError } from '../core/index.ts';
import { GraphBuilder } from './builder.ts';
import { ENGINES } from './engine.ts';
import { matMul, reduce, unary } from './index.ts';
import { toOnnx } from './onnx.ts';
import { Session } from './session.ts';

/** A session that is closed whatever happens. */
async function withSession<T>(use: (session: Session) => Promise<T>): Promise<T> {
  const session = await Session.start();
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

const x = floats([2], [1, -1]);

describe('a session', () => {
  it('names its engine, and answers many runs in the order of asking', () =>
    withSession(async (session) => {
      expect(session.engine).toBe(ENGINES[0]);
      await compute(session, { x }, (g, v) => [unary(g, 'Relu', v.x)]);
      const runs = Array.from({ length: 20 }, (_, i) => session.run({ x: floats([2], [i, -i]) }));
      const firsts = (await Promise.all(runs)).map(({ y0 }) => floatsOf(y0)[0]);
      expect(firsts).toEqual(firsts.map((_, i) => i));
    }));

  it('turns what the engine refuses into EngineError and stays usable', () =>
    withSession(async (session) => {
      await expect(session.load({ bytes: Uint8Array.of(1, 2, 3) }, { threads: 1 })).rejects.toThrow(EngineError);
      const g = new GraphBuilder('g');
      g.output('y', g.node('NoSuchOperator', [g.input('x', 'float32', [2])], { dtype: 'float32', shape: [2] }));
      await expect(session.load({ bytes: toOnnx(g) }, { threads: 1 })).rejects.toThrow('NoSuchOperator');
      await compute(session, { x }, (g, v) => [unary(g, 'Relu', v.x)]);
      await expect(session.run({})).rejects.toThrow(EngineError);
      await expect(session.run({ x: floats([3], [1, 2, 3]) })).rejects.toThrow(EngineError);
      expect([...floatsOf((await session.run({ x })).y0)]).toEqual([1, 0]);
    }));

  it('keeps where in the engine thread an error came from', () =>
    withSession(async (session) => {
      const error = await session.load({ bytes: Uint8Array.of(1, 2, 3) }, { threads: 1 }).catch((e: unknown) => e);
      expect(error).toMatchObject({ cause: { stack: expect.stringMatching(/\n {4}at .*onnxruntime-node/) } });
    }));

  it('refuses an output of an element type that is not ours', () =>
    withSession(async (session) => {
      const double = { dtype: 'float32', shape: [2] } as const; // a lie: 11 is float64
      const run = compute(session, { x }, (g, v) => [g.node('Cast', [v.x], double, { attributes: { to: 11 } })]);
      await expect(run).rejects.toThrow(EngineError);
    }));

  it('refuses to run before a model is loaded', () =>
    withSession((session) => expect(session.run({ x })).rejects.toThrow('run before load')));

  it('keeps the event loop live while it computes: timers fire during one long run', () =>
    withSession(async (session) => {
      const size = 1000;
      const big = floats([size, size], new Float32Array(size * size).fill(1 / size));
      let ticks = 0;
      const timer = setInterval(() => ticks++, 5);
      const [y] = await compute(session, { x: big }, (g, v) => {
        let product = v.x;
        for (let i = 0; i < 10; i++) product = matMul(g, product, v.x);
        const rows = reduce(g, product, { op: 'ReduceMax', axis: 1 });
        return [reduce(g, rows, { op: 'ReduceMax', axis: 0 })];
      });
      clearInterval(timer);
      expect(floatsOf(y)[0]).toBeCloseTo(1 / size, 6); // a matrix of 1/n is its own power
      expect(ticks).toBeGreaterThan(5);
    }));

  it('closed: says so, closes again without harm, and rejects what was still waiting', async () => {
    const session = await Session.start();
    await compute(session, { x }, (g, v) => [unary(g, 'Relu', v.x)]);
    const closing = session.close();
    const late = session.run({ x });
    await expect(late).rejects.toThrow(EngineError);
    await closing;
    await session.close();
    await expect(session.run({ x })).rejects.toThrow('the engine thread has ended');
  });

  it('refuses inputs that cannot cross to the engine thread instead of waiting for an answer for ever', () =>
    withSession(async (session) => {
      await compute(session, { x }, (g, v) => [unary(g, 'Relu', v.x)]);
      const gone = new Float32Array(2);
      structuredClone(gone.buffer, { transfer: [gone.buffer] });
      await expect(session.run({ x: { dtype: 'float32', dims: [2], data: gone } })).rejects.toThrow('detached');
      expect([...floatsOf((await session.run({ x })).y0)]).toEqual([1, 0]);
    }));
});
