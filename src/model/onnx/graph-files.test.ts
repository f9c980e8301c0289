import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckpointError } from '../../core/index.ts';
import { GraphBuilder, toOnnx, unary } from '../../graph/index.ts';
import { MessageWriter } from '../../graph/protobuf.ts';
import { externalLocations, graphFiles } from './graph-files.ts';

let scratch: string;
let path: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lzero-graph-files-'));
  path = join(scratch, 'model.onnx');
  for (const name of ['weights.bin', 'b.bin']) writeFileSync(join(scratch, name), 'weights');
});
afterAll(() => rmSync(scratch, { recursive: true }));

/** A graph whose constants lie in these files, or inside where there is none. */
function graph(...locations: readonly (string | undefined)[]): Uint8Array {
  const g = new GraphBuilder('g');
  locations.forEach((location, i) => {
    const data = location === undefined ? Float32Array.of(1) : { location, offset: 0, length: 4 };
    g.output(`y${i}`, unary(g, 'Relu', g.constant(`w${i}`, { dtype: 'float32', shape: [1] }, data)));
  });
  return toOnnx(g);
}

const message = (number: number, inner: MessageWriter): MessageWriter => new MessageWriter().message(number, inner);

/** A tensor whose values are in a file. */
function tensor(location: string): MessageWriter {
  return message(13, new MessageWriter().string(1, 'location').string(2, location));
}

const inGraph = (content: MessageWriter): Uint8Array => message(7, content).finish();

describe('the files of an ONNX model', () => {
  it('are the graph alone where its weights are inside', async () => {
    writeFileSync(path, graph(undefined));
    expect(await graphFiles(path)).toEqual([path]);
  });

  it('are those that its tensors name, whatever they are called, and no others', async () => {
    writeFileSync(`${path}.bak`, 'an older file');
    writeFileSync(`${path}_data`, 'of another export');
    writeFileSync(path, graph('weights.bin', undefined, 'b.bin', 'weights.bin'));
    expect(await graphFiles(path)).toEqual([path, join(scratch, 'b.bin'), join(scratch, 'weights.bin')]);
  });

  it.each([
    ['a constant of a node', inGraph(message(1, message(5, message(5, tensor('b.bin')))))],
    ['a list of tensors', inGraph(message(1, message(5, message(10, tensor('b.bin')))))],
    ['the body of a loop', inGraph(message(1, message(5, message(6, message(5, tensor('b.bin'))))))],
    ['a sparse tensor', inGraph(message(15, message(1, tensor('b.bin'))))],
    ['a function', message(25, message(7, message(5, message(5, tensor('b.bin'))))).finish()],
    [
      'a node that is too large to be searched',
      inGraph(message(1, message(5, message(5, tensor('b.bin').bytes(9, new Uint8Array(70_000)))))),
    ],
  ])('are found in %s too', async (_, bytes) => {
    writeFileSync(path, bytes);
    expect(await externalLocations(path)).toEqual(['b.bin']);
  });

  it('that are missing are named', async () => {
    writeFileSync(path, graph('lost.bin'));
    await expect(graphFiles(path)).rejects.toThrow(`${join(scratch, 'lost.bin')} is missing`);
    await expect(graphFiles(path)).rejects.toThrow(CheckpointError);
  });

  it.each(['../x', '/etc/passwd', 'a/b', 'a\\b', 'C:x', '..', '.', '', 'x\u001b[31m'])(
    'may not lie elsewhere: %j',
    async (location) => {
      writeFileSync(path, inGraph(message(5, tensor(location))));
      await expect(graphFiles(path)).rejects.toThrow('expected the name of a file beside it');
    },
  );

  it('are not looked for without end', async () => {
    let nested = tensor('b.bin');
    for (let depth = 0; depth < 40; depth++) nested = message(1, message(5, message(6, nested)));
    writeFileSync(path, inGraph(nested));
    await expect(graphFiles(path)).rejects.toThrow('messages within each other');
    writeFileSync(path, inGraph(message(5, tensor('x'.repeat(2000)))));
    await expect(graphFiles(path)).rejects.toThrow('of 2000 bytes');
  });
});
