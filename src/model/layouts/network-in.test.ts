import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { goldenFolder } from '../../../test/golden/model/fixtures.ts';
import { writeJson, writeSiameseFolder } from '../../../test/lib/sparse-encoder-folder.ts';
import { CheckpointError, ConfigError, messageOf } from '../../core/index.ts';
import { type Dim, GraphBuilder, toOnnx } from '../../graph/index.ts';
import { importModel } from '../import.ts';
import { readModelFolder } from '../model-folder.ts';
import { modelIdentity } from '../model-identity.ts';
import { readSourceModel } from './find-layout.ts';
import { networkIn } from './network-in.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-network-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A graph that gives its inputs back under other names, and perhaps has weights in another file. */
function writeGraph(path: string, outputs: Readonly<Record<string, readonly Dim[]>>, location?: string): void {
  const g = new GraphBuilder('test');
  if (location !== undefined) {
    const weights = g.constant('w', { dtype: 'float32', shape: [1] }, { location, offset: 0, length: 4 });
    g.output('w_out', g.node('Identity', [weights], weights));
  }
  for (const [name, shape] of Object.entries(outputs)) {
    const value = g.input(`${name}_in`, 'float32', shape);
    g.output(name, g.node('Identity', [value], value));
  }
  writeFileSync(path, toOnnx(g));
}

const LOGITS = { logits: ['B', 'T', 277] };
const WEIGHTS = { sparse_weights: ['B', 277] };

function writeOnnxFolder(outputs: Readonly<Record<string, readonly Dim[]>>): void {
  cpSync(join(goldenFolder('tied'), 'vocab.txt'), join(folder, 'vocab.txt'));
  writeGraph(join(folder, 'model.onnx'), outputs);
}

describe('a folder with an ONNX file and a tokenizer', () => {
  it('is of the layout onnx; an output for each token is logits', async () => {
    writeOnnxFolder(LOGITS);
    const { layout, settings, fixed } = await readSourceModel(folder);
    expect([layout, fixed.size]).toEqual(['onnx', 0]);
    expect(settings).toMatchObject({
      kind: 'onnx',
      file: 'model.onnx',
      output: { name: 'logits', form: 'logits' },
      activation: 'relu',
      encodeLength: 512,
    });
    expect((await readModelFolder(folder, { idf: 'none', activation: 'l0' })).settings).toMatchObject({
      activation: 'l0',
    });
  });

  it('asks for the activation that is inside where the output is weights', async () => {
    writeOnnxFolder(WEIGHTS);
    const read = readModelFolder(folder, { idf: 'none' });
    await expect(read).rejects.toThrow(ConfigError);
    await expect(read).rejects.toMatchObject({ hint: expect.stringContaining('--activation') });
    const { settings } = await readModelFolder(folder, { idf: 'none', activation: 'l0' });
    expect(settings).toMatchObject({ activation: 'l0', output: { form: 'weights' } });
  });

  it.each([
    ['an output whose meaning nobody says', { embedding: ['B', 277] }],
    ['two outputs for each token', { ...LOGITS, hidden: ['B', 'T', 24] }],
  ])('with %s is refused, and the outputs are named', async (_, outputs) => {
    writeOnnxFolder(outputs);
    const read = readSourceModel(folder);
    await expect(read).rejects.toThrow(ConfigError);
    for (const name of Object.keys(outputs)) await expect(read).rejects.toThrow(name);
  });

  it('with a damaged file is a CheckpointError', async () => {
    writeOnnxFolder(LOGITS);
    writeFileSync(join(folder, 'model.onnx'), 'not ONNX');
    await expect(readSourceModel(folder)).rejects.toThrow(CheckpointError);
  });

  it('reads no more tokens than its config.json has positions, whatever its architecture', async () => {
    writeOnnxFolder(LOGITS);
    writeJson(join(folder, 'config.json'), { model_type: 'roberta', max_position_embeddings: 48 });
    expect((await readSourceModel(folder)).settings).toMatchObject({ encodeLength: 48 });
  });

  it('has an identity that covers the files that it names, and no others', async () => {
    writeOnnxFolder(LOGITS);
    writeGraph(join(folder, 'model.onnx'), LOGITS, 'weights.bin');
    const identity = async () => modelIdentity(await readModelFolder(folder, { idf: 'none' }), 'fp32');
    writeFileSync(join(folder, 'weights.bin'), 'weights');
    const before = await identity();
    writeFileSync(join(folder, 'model.onnx.bak'), 'what is no part of the model');
    expect(await identity()).toBe(before);
    writeFileSync(join(folder, 'weights.bin'), 'other weights');
    expect(await identity()).not.toBe(before);
  });

  it('is imported with all its files, in one folder', async () => {
    mkdirSync(join(folder, 'onnx'));
    cpSync(join(goldenFolder('tied'), 'vocab.txt'), join(folder, 'vocab.txt'));
    writeGraph(join(folder, 'onnx/model.onnx'), LOGITS, 'weights.bin');
    writeFileSync(join(folder, 'onnx/weights.bin'), 'weights');
    const output = join(folder, 'made');
    const { settings } = await importModel({ source: folder, output, idf: 'none', activation: 'l0' });
    expect(settings).toMatchObject({ kind: 'onnx', file: 'model.onnx', activation: 'l0' });
    expect(readdirSync(output).sort()).toEqual(['README.md', 'lzero.json', 'model.onnx', 'vocab.txt', 'weights.bin']);
    expect((await readModelFolder(output)).settings).toEqual(settings);
    for (const options of [{ head: 'tied' }, { dtype: 'F16' }] as const) {
      const other = importModel({ source: output, output: join(folder, 'other'), ...options });
      await expect(other).rejects.toThrow(`takes no ${Object.keys(options)[0]}`);
    }
  });
});

describe('an ONNX file whose weights are elsewhere', () => {
  it('is not imported without them', async () => {
    writeOnnxFolder(LOGITS);
    writeGraph(join(folder, 'model.onnx'), LOGITS, 'weights.bin');
    const options = { source: folder, output: join(folder, 'made'), idf: 'none', activation: 'l0' } as const;
    await expect(importModel(options)).rejects.toThrow(`${join(folder, 'weights.bin')} is missing`);
  });

  it('has its outputs named in a short message', async () => {
    const outputs = Array.from({ length: 2000 }, (_, i): [string, Dim[]] => [`${i}\u001b[31m`, ['B', 277]]);
    writeOnnxFolder(Object.fromEntries(outputs));
    const error = await readSourceModel(folder).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect(messageOf(error).length).toBeLessThan(2000);
    expect(messageOf(error)).not.toMatch(/\p{Cc}/u);
  });
});

describe('the network of a folder', () => {
  it('is its weights rather than a graph beside them', async () => {
    cpSync(goldenFolder('tied'), folder, { recursive: true });
    writeGraph(join(folder, 'model.onnx'), LOGITS);
    expect(await networkIn(folder)).toEqual({ kind: 'bert' });
  });

  it('may be a graph in a sentence-transformers folder, with the activation of its pooling', async () => {
    writeSiameseFolder(folder, '6', 'log1p_relu');
    rmSync(join(folder, 'model.safetensors'));
    mkdirSync(join(folder, 'onnx'));
    writeGraph(join(folder, 'onnx/model.onnx'), LOGITS);
    const { layout, settings } = await readModelFolder(folder);
    expect(layout).toBe('sentence-transformers');
    expect(settings).toMatchObject({ kind: 'onnx', file: 'onnx/model.onnx', activation: 'l0', encodeLength: 64 });
  });
});
