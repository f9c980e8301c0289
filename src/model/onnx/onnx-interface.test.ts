import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckpointError } from '../../core/index.ts';
import { GraphBuilder, toOnnx, unary } from '../../graph/index.ts';
import { MessageWriter } from '../../graph/protobuf.ts';
import { readOnnxInterface } from './onnx-interface.ts';

let scratch: string;
let path: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lzero-onnx-interface-'));
  path = join(scratch, 'model.onnx');
});
afterAll(() => rmSync(scratch, { recursive: true }));

/** A small graph with a constant of many bytes before its inputs. */
function bytesOfGraph(): Uint8Array {
  const g = new GraphBuilder('g');
  const weights = g.constant('weights', { dtype: 'float32', shape: [30_000] }, new Float32Array(30_000).fill(2));
  const x = g.input('input_ids', 'int64', ['B', 'T']);
  g.output('logits', g.node('Cast', [x], { dtype: 'float32', shape: ['B', 'T', 277] }, { attributes: { to: 1 } }));
  g.output('big', unary(g, 'Relu', weights));
  return toOnnx(g);
}

function read(bytes: Uint8Array) {
  writeFileSync(path, bytes);
  return readOnnxInterface(path);
}

describe('the interface of an ONNX file', () => {
  it('has names and shapes of inputs and outputs, read past the weights', async () => {
    expect(await read(bytesOfGraph())).toEqual({
      inputs: [{ name: 'input_ids', shape: ['B', 'T'] }],
      outputs: [
        { name: 'logits', shape: ['B', 'T', 277] },
        { name: 'big', shape: [30_000] },
      ],
    });
  });

  it('says "?" for a dimension that has neither size nor name, and nothing for a value without shape', async () => {
    const dims = new MessageWriter().message(1, new MessageWriter()).message(1, new MessageWriter().int(1, 7));
    const type = new MessageWriter().message(1, new MessageWriter().int(1, 1).message(2, dims));
    const graph = new MessageWriter()
      .message(12, new MessageWriter().string(1, 'a').message(2, type))
      .message(12, new MessageWriter().string(1, 'b'));
    expect((await read(new MessageWriter().message(7, graph).finish())).outputs).toEqual([
      { name: 'a', shape: ['?', 7] },
      { name: 'b', shape: [] },
    ]);
  });
});

describe('a damaged ONNX file', () => {
  const message = (...parts: number[]) => Uint8Array.from(parts);
  it.each([
    ['nothing', message(), 'found 0'],
    ['a length beyond the end', message(0x3a, 0x7f, 1), '127 bytes, 1 are left'],
    ['a length of 2^63', message(0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), 'are left'],
    ['a number without end', message(0x08, ...new Array(12).fill(0xff)), 'byte 1: a number does not end'],
    ['a group', message(0x3b), 'wire type 3'],
    ['two graphs', message(0x3a, 0, 0x3a, 0), 'found 2'],
    ['no outputs', message(0x3a, 0), 'no outputs'],
    ['an output without a name', message(0x3a, 2, 0x62, 0), 'without a name'],
  ])('is refused with the byte: %s', async (_, bytes, problem) => {
    await expect(read(bytes)).rejects.toThrow(problem);
    await expect(read(bytes)).rejects.toThrow(CheckpointError);
  });

  it('ends in a CheckpointError or an answer, wherever it is cut or changed', async () => {
    const g = new GraphBuilder('g');
    g.output('y', unary(g, 'Relu', g.input('x', 'float32', ['B', 3])));
    const whole = toOnnx(g);
    const damage = fc.record({
      cut: fc.integer({ min: 0, max: whole.length }),
      at: fc.integer({ min: 0, max: whole.length - 1 }),
      byte: fc.integer({ min: 0, max: 255 }),
    });
    const property = fc.asyncProperty(damage, async ({ cut, at, byte }) => {
      const bytes = whole.slice();
      bytes[at] = byte;
      const outcome = await read(bytes.subarray(0, cut)).catch((error: unknown) => error);
      expect(outcome instanceof CheckpointError || typeof outcome === 'object').toBe(true);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(CheckpointError);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});
