import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeAll, goldenFolder } from '../../../test/golden/model/fixtures.ts';
import { type Dim, type DType, GraphBuilder, toOnnx, type Value } from '../../graph/index.ts';
import { activate } from '../activation.ts';
import { loadModel } from '../model.ts';
import type { OnnxSettings } from '../settings.ts';
import { formatSettings } from '../settings.ts';

/** Tokens of the golden vocabulary, the first five of them special. */
const NUM_TERMS = 277;
const RIVER = 'river';

let scratch: string;
let numFolders = 0;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lzero-onnx-encoder-'));
});
afterAll(() => rmSync(scratch, { recursive: true }));

/** What a graph makes of token ids, int64 [B, T]. */
type Build = (g: GraphBuilder, ids: Value) => Value;

/** A model folder with a graph of our own. */
function write(build: Build, changes: Partial<OnnxSettings> = {}, inputs: readonly string[] = ['input_ids']): string {
  const folder = join(scratch, String(numFolders++));
  cpSync(goldenFolder('tied'), folder, { recursive: true });
  const g = new GraphBuilder('test');
  const [ids] = inputs.map((name) => g.input(name, 'int64', ['B', 'T']));
  g.output('out', build(g, ids));
  writeFileSync(join(folder, 'model.onnx'), toOnnx(g));
  const settings: OnnxSettings = {
    format: 1,
    kind: 'onnx',
    name: 'test',
    specialTokens: 'drop',
    prune: { rule: 'none' },
    idf: 'none',
    source: 'a test',
    activation: 'relu',
    encodeLength: 16,
    file: 'model.onnx',
    output: { form: 'weights' },
    ...changes,
  };
  writeFileSync(join(folder, 'lzero.json'), formatSettings(settings));
  return folder;
}

const float = (shape: readonly Dim[]) => ({ dtype: 'float32', shape }) as const;

/** One row over the vocabulary for each position: `on` where the token is, `off` elsewhere. [B, T, V] */
const oneHot =
  (off: number, on: number, numTerms = NUM_TERMS): Build =>
  (g, ids) => {
    const values = g.constant('values', float([2]), Float32Array.of(off, on));
    return g.node('OneHot', [ids, g.ints(numTerms), values], float(['B', 'T', numTerms]));
  };

/** The same, largest over positions: [B, V] */
const pooledOneHot =
  (off: number, on: number): Build =>
  (g, ids) =>
    g.node('ReduceMax', [oneHot(off, on)(g, ids), g.ints(1)], float(['B', NUM_TERMS]), { attributes: { keepdims: 0 } });

async function vectorOf(folder: string, texts: readonly string[] = [RIVER]): Promise<Record<string, number>> {
  const model = await loadModel(folder);
  try {
    const { vector } = (await encodeAll(model, texts))[0];
    const { tokens } = model.tokenizer.vocabulary;
    return Object.fromEntries(Array.from(vector.terms, (term, i) => [tokens[term], vector.weights[i]]));
  } finally {
    await model.close();
  }
}

describe('an ONNX encoder', () => {
  it('whose output is weights gives them as they are, special tokens dropped', async () => {
    expect(await vectorOf(write(pooledOneHot(0, 0.5)))).toEqual({ river: 0.5 });
  });

  it('whose output is pooled logits gets the activation', async () => {
    const folder = write(pooledOneHot(-1, 3), { output: { form: 'pooled-logits' }, activation: 'l0' });
    expect(await vectorOf(folder)).toEqual({ river: Math.fround(activate(3, 'l0')) });
  });

  it('whose output is logits is pooled over the tokens of each document, not over its padding', async () => {
    const folder = write(oneHot(-1, 3), { output: { form: 'logits' } });
    const texts = ['river', 'the river was cold'];
    const w = Math.fround(activate(3, 'relu'));
    expect(await vectorOf(folder, texts)).toEqual({ river: w });
    expect(await vectorOf(folder, [...texts].reverse())).toEqual({ the: w, river: w, was: w, cold: w });
  });

  it('may have more columns than the tokenizer has tokens', async () => {
    const folder = write(oneHot(-1, 3, NUM_TERMS + 11), { output: { form: 'logits' } });
    expect(Object.keys(await vectorOf(folder))).toEqual(['river']);
  });

  it('is pruned as its settings say, and one that computes in int8 meets one document at a time', async () => {
    const folder = write(pooledOneHot(0, 0.5), { prune: { rule: 'top-k', k: 1 }, precision: 'int8' });
    expect(await vectorOf(folder, ['the river', 'cold'])).toEqual({ the: 0.5 });
  });
});

describe('an ONNX file that is not what its settings say', () => {
  const constant =
    (dtype: DType, shape: readonly number[], fill: number): Build =>
    (g) => {
      const size = shape.reduce((a, b) => a * b, 1);
      const data = dtype === 'int32' ? new Int32Array(size).fill(fill) : new Float32Array(size).fill(fill);
      return g.node('Identity', [g.constant('constant', { dtype, shape }, data)], { dtype, shape });
    };
  const WRONG: readonly [string, () => string, string][] = [
    ['fewer columns than terms', () => write(constant('float32', [1, 5], 1)), 'float32 [1, 5]'],
    ['another number of rows', () => write(constant('float32', [2, NUM_TERMS], 1)), 'float32 [2, 277]'],
    ['logits where weights are said', () => write(oneHot(0, 1)), 'float32 [1, 3, 277]'],
    [
      'weights where logits are said',
      () => write(pooledOneHot(0, 1), { output: { form: 'logits' } }),
      'float32 [1, 277]',
    ],
    ['integers', () => write(constant('int32', [1, NUM_TERMS], 1)), 'int32'],
    ['NaN', () => write(constant('float32', [1, NUM_TERMS], Number.NaN)), 'gave NaN for term 0'],
    ['infinity', () => write(constant('float32', [1, NUM_TERMS], Infinity)), 'gave Infinity for term 0'],
    ['weights below 0', () => write(pooledOneHot(-1, 1)), 'never below 0'],
    ['an unknown input', () => write(pooledOneHot(0, 1), {}, ['input_ids', 'pixels']), 'input pixels'],
    ['no input_ids', () => write(pooledOneHot(0, 1), {}, ['attention_mask']), 'no input input_ids'],
    ['another output', () => write(pooledOneHot(0, 1), { output: { name: 'sparse', form: 'weights' } }), 'found out'],
  ];

  it.each(WRONG)('is refused with file and output named: %s', async (_, make, message) => {
    const folder = make();
    await expect(vectorOf(folder)).rejects.toThrow(message);
    await expect(vectorOf(folder)).rejects.toThrow(join(folder, 'model.onnx'));
  });

  it('is refused where it is no ONNX file, or is not there', async () => {
    const folder = write(pooledOneHot(0, 1));
    writeFileSync(join(folder, 'model.onnx'), 'not a graph');
    await expect(vectorOf(folder)).rejects.toMatchObject({ code: 'CHECKPOINT' });
    rmSync(join(folder, 'model.onnx'));
    await expect(vectorOf(folder)).rejects.toMatchObject({ code: 'CHECKPOINT' });
  });

  it('is given to no engine where it has weights outside of its folder', async () => {
    const elsewhere = (location: string) =>
      write((g, ids) => {
        const values = g.constant('values', float([2]), { location, offset: 0, length: 8 });
        return g.node('OneHot', [ids, g.ints(NUM_TERMS), values], float(['B', 'T', NUM_TERMS]));
      });
    writeFileSync(join(scratch, 'outside.bin'), new Uint8Array(8));
    for (const location of ['../outside.bin', join(scratch, 'outside.bin')])
      await expect(vectorOf(elsewhere(location))).rejects.toThrow('expected the name of a file beside it');
  });
});
