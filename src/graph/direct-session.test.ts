import { describe, expect, it } from 'vitest';
import { floats, floatsOf } from '../../test/golden/model/fixtures.ts';
import { EngineError } from '../core/index.ts';
import { webAssembly } from '../kernels/webassembly.ts';
import { GraphBuilder } from './builder.ts';
import { DirectSession } from './direct-session.ts';
import { multiply, toOnnx, unary } from './index.ts';
import type { Tensor } from './value.ts';

/** relu(x) and x², of any length. */
function bytes(): Uint8Array<ArrayBuffer> {
  const g = new GraphBuilder('g');
  const x = g.input('x', 'float32', ['N']);
  g.output('positive', unary(g, 'Relu', x));
  g.output('square', multiply(g, x, x));
  return toOnnx(g);
}

/** A session that is closed whatever happens. */
async function withSession<T>(use: (session: DirectSession) => Promise<T>): Promise<T> {
  const session = await DirectSession.create(bytes(), { threads: 1 });
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

/** Floats in a WebAssembly memory of its own, from a place in its middle on. */
function floatsInWasm(length: number): Float32Array {
  if (!webAssembly) throw new Error('Node has no WebAssembly');
  return new Float32Array(new webAssembly.Memory({ initial: 1, maximum: 1, shared: false }).buffer, 64, length);
}

const tensor = (data: Float32Array): Tensor => ({ dtype: 'float32', dims: [data.length], data });

describe('a direct session', () => {
  it('knows the names of its model, and runs it', () =>
    withSession(async (session) => {
      expect(session.names).toEqual({ inputs: ['x'], outputs: ['positive', 'square'] });
      const { positive, square } = await session.run({ x: floats([3], [1, -2, 3]) });
      expect([...floatsOf(positive)]).toEqual([1, 0, 3]);
      expect([...floatsOf(square)]).toEqual([1, 4, 9]);
    }));

  it('reads a view of a WebAssembly memory, as it is at the time of the run', () =>
    withSession(async (session) => {
      const view = floatsInWasm(2);
      const feeds = { x: tensor(view) };
      view.set([1, -1]);
      expect([...floatsOf((await session.run(feeds)).positive)]).toEqual([1, 0]);
      view.set([-3, 5]);
      expect([...floatsOf((await session.run(feeds)).positive)]).toEqual([0, 5]);
    }));

  it('writes an output into given memory, and gives that tensor back; others are new', () =>
    withSession(async (session) => {
      const memory = floatsInWasm(100);
      const into = { square: tensor(memory.subarray(8, 10)) };
      const results = await session.run({ x: floats([2], [3, -4]) }, into);
      expect([...memory.subarray(7, 11)]).toEqual([0, 9, 16, 0]);
      expect(results.square).toBe(into.square);
      expect([...floatsOf(results.positive)]).toEqual([3, 0]);
    }));

  it('refuses memory of another size, and shared memory, and stays usable', () =>
    withSession(async (session) => {
      const x = floats([2], [3, -4]);
      await expect(session.run({ x }, { square: tensor(new Float32Array(3)) })).rejects.toThrow(EngineError);
      const shared = tensor(new Float32Array(new SharedArrayBuffer(8)));
      await expect(session.run({ x: shared })).rejects.toThrow('x lies in shared memory');
      await expect(session.run({ x }, { square: shared })).rejects.toThrow('square lies in shared memory');
      await expect(session.run({})).rejects.toThrow(EngineError);
      expect([...floatsOf((await session.run({ x })).square)]).toEqual([9, 16]);
    }));

  it('closed: finishes what was asked before, refuses what comes after, closes again without harm', async () => {
    const session = await DirectSession.create(bytes(), { threads: 1 });
    const x = floats([1], [2]);
    const early = session.run({ x });
    const closing = session.close();
    await expect(session.run({ x })).rejects.toThrow('the session is closed');
    expect([...floatsOf((await early).square)]).toEqual([4]);
    await closing;
    await session.close();
  });

  it('turns what the engine refuses into EngineError', async () => {
    await expect(DirectSession.create(Uint8Array.of(1, 2, 3), { threads: 1 })).rejects.toThrow(EngineError);
  });

  // No machine has both: one of the two is missing everywhere.
  const elsewhere = process.platform === 'darwin' ? 'dml' : 'coreml';
  it(`names the device that is not here (${elsewhere}), and what it needs`, async () => {
    const creating = DirectSession.create(bytes(), { threads: 1, device: elsewhere });
    await expect(creating).rejects.toThrow(EngineError);
    await expect(creating).rejects.toMatchObject({
      message: expect.stringContaining(`cannot compute on ${elsewhere}`),
      hint: expect.stringContaining('or compute on cpu'),
    });
  });
});
