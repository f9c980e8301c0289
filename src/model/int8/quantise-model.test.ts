/** int8 against fp32 on the tiny golden models, and quantised folders against quantising while loading. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rewriteWeights } from '../../../test/golden/check/fixtures.ts';
import { changeConfig, encodeAll, golden, goldenFolder } from '../../../test/golden/model/fixtures.ts';
import { fixedTexts } from '../../../test/golden/shipped/fixtures.ts';
import { compareVectors, writeTiedHeadModel, writeTopicModel } from '../../../test/lib/convert-models.ts';
import { CheckpointError, ConfigError, type SparseVector } from '../../core/index.ts';
import { Checkpoint, TOPIC } from '../checkpoint.ts';
import { convertModel } from '../convert.ts';
import { importModel } from '../import.ts';
import type { LoadOptions } from '../model.ts';
import { loadModel } from '../model.ts';
import { numValues } from '../tensors/dtype.ts';
import { openSafetensors } from '../tensors/safetensors.ts';
import { type TensorToWrite, writeSafetensors } from '../tensors/safetensors-writer.ts';
import { CODE_LIMIT, quantiseRows } from './codes.ts';
import { LEVELS } from './four-bits.ts';
import { type QuantiseOptions, quantiseModel } from './quantise-model.ts';

let folder: string;
let output: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-int8-'));
  output = join(folder, 'int8');
});
afterEach(() => rmSync(folder, { recursive: true }));

const MODELS = ['tied', 'untied', 'half'] as const;

/** Vectors of texts by a model that is closed again. */
async function vectors(model: string, texts: readonly string[], options: LoadOptions = {}): Promise<SparseVector[]> {
  const loaded = await loadModel(model, options);
  try {
    return (await encodeAll(loaded, texts)).map(({ vector }) => vector);
  } finally {
    await loaded.close();
  }
}

function cosine(a: SparseVector, b: SparseVector): number {
  const weightOf = new Map(Array.from(a.terms, (term, i) => [term, a.weights[i]]));
  let product = 0;
  b.terms.forEach((term, i) => {
    product += b.weights[i] * (weightOf.get(term) ?? 0);
  });
  return product / (Math.hypot(...a.weights) * Math.hypot(...b.weights));
}

describe('precision int8', () => {
  // Logits of random networks lie close to 0, where a small change turns terms on and off: vectors of a few terms say little.
  for (const name of ['tied', 'untied'])
    it(`gives a cosine of 0.99 and more with fp32, where a vector has a hundred terms or more: ${name}`, async () => {
      const fp32 = await vectors(goldenFolder(name), golden.texts, { idf: 'none' });
      const int8 = await vectors(goldenFolder(name), golden.texts, { idf: 'none', precision: 'int8' });
      expect(int8).not.toEqual(fp32);
      const cosines = fp32.flatMap((vector, i) => (vector.terms.length >= 100 ? [cosine(vector, int8[i])] : []));
      expect(cosines.length).toBeGreaterThan(0);
      expect(Math.min(...cosines)).toBeGreaterThanOrEqual(0.99);
    });

  it('gives a text the same bits alone, among others, and with any number of threads', async () => {
    const options = { idf: 'none', precision: 'int8' } as const;
    const together = await vectors(goldenFolder('tied'), golden.texts, options);
    const again = await vectors(goldenFolder('tied'), golden.texts.toReversed(), { ...options, threads: 1 });
    expect(again.toReversed()).toEqual(together);
    for (const i of [0, 5]) {
      const alone = await vectors(goldenFolder('tied'), [golden.texts[i]], options);
      expect(alone).toEqual([together[i]]);
    }
  });

  it('is part of what a model is: an index of fp32 vectors takes none of int8', async () => {
    const [fp32, int8] = [
      await loadModel(goldenFolder('tied'), { idf: 'none' }),
      await loadModel(goldenFolder('tied'), { idf: 'none', precision: 'int8' }),
    ];
    expect([fp32.precision, int8.precision]).toEqual(['fp32', 'int8']);
    expect(await int8.identity()).not.toBe(await fp32.identity());
    const said = await loadModel(goldenFolder('tied'), { idf: 'none', precision: 'fp32' });
    expect(await said.identity()).toBe(await fp32.identity());
  });

  it('changes nothing about a model without a network', async () => {
    const [bow, asked] = [await loadModel('bow'), await loadModel('bow', { precision: 'int8' })];
    expect(asked.precision).toBe('fp32');
    expect(await asked.identity()).toBe(await bow.identity());
  });

  it('is refused where it has another name', async () => {
    const options = JSON.parse('{"precision": "int4"}');
    await expect(loadModel(goldenFolder('tied'), options)).rejects.toThrow('precision is int4, expected fp32 or int8');
  });
});

describe('a quantised folder', () => {
  for (const name of MODELS)
    it(`gives the bits that quantising while loading gives: ${name}`, async () => {
      await quantiseModel({ source: goldenFolder(name), output, idf: 'none' });
      const stored = await vectors(output, golden.texts);
      expect(stored).toEqual(await vectors(goldenFolder(name), golden.texts, { idf: 'none', precision: 'int8' }));
    });

  it.each(MODELS)('is the same model as its source at int8, and another one at fp32: %s', async (name) => {
    await quantiseModel({ source: goldenFolder(name), output, idf: 'none' });
    const identity = async (of: string, options: LoadOptions) => (await loadModel(of, options)).identity();
    const [stored, asked, asFp32, source] = [
      await identity(output, {}),
      await identity(goldenFolder(name), { idf: 'none', precision: 'int8' }),
      await identity(output, { precision: 'fp32' }),
      await identity(goldenFolder(name), { idf: 'none' }),
    ];
    expect(stored).toBe(asked);
    expect(new Set([stored, asFp32, source]).size).toBe(3);
  });

  it('keeps the matrix of a pooled head in float32, and gives the bits of its source in int8', async () => {
    const source = await writeTiedHeadModel(join(folder, 'pooled'), 'pooled');
    await quantiseModel({ source, output, idf: 'none' });
    const file = await openSafetensors(join(output, 'model.safetensors'));
    expect(file.tensors.get('lzero.tied_head.pooled')?.dtype).toBe('F32');
    await file.close();
    const options = { idf: 'none', precision: 'int8' } as const;
    expect(await vectors(output, golden.texts)).toEqual(await vectors(source, golden.texts, options));
  });

  it('whose weights change is another model', async () => {
    await quantiseModel({ source: goldenFolder('tied'), output, idf: 'none' });
    const before = await (await loadModel(output)).identity();
    const path = join(output, 'model.safetensors');
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] ^= 1;
    writeFileSync(path, bytes);
    expect(await (await loadModel(output)).identity()).not.toBe(before);
  });

  it('says that it is int8, can be run as fp32 too, and is quantised again to the same bytes', async () => {
    await quantiseModel({ source: goldenFolder('tied'), output, idf: 'none', activation: 'l0' });
    const model = await loadModel(output);
    expect(model.precision).toBe('int8');
    expect(model.settings).toMatchObject({ name: 'int8', activation: 'l0', precision: 'int8' });
    const [int8, fp32] = [
      await vectors(output, golden.texts),
      await vectors(output, golden.texts, { precision: 'fp32' }),
    ];
    expect(fp32).not.toEqual(int8);
    const longest = fp32.reduce((best, { terms }, i) => (terms.length > fp32[best].terms.length ? i : best), 0);
    expect(cosine(int8[longest], fp32[longest])).toBeGreaterThan(0.99);
    const twice = join(folder, 'twice');
    await quantiseModel({ source: output, output: twice });
    const weights = (of: string) => readFileSync(join(of, 'model.safetensors'));
    expect(weights(twice).equals(weights(output))).toBe(true);
  });

  it('holds codes of at most 64 with a scale for each row, and is much smaller', async () => {
    const report = await quantiseModel({ source: goldenFolder('tied'), output, idf: 'none' });
    expect(report.sizeBytes).toBe(statSync(join(output, 'model.safetensors')).size);
    expect(report.sizeBytes / report.sourceBytes).toBeLessThan(0.7); // of a tiny model much is no matrix
    const file = await openSafetensors(join(output, 'model.safetensors'));
    const name = 'bert.encoder.layer.0.intermediate.dense.weight';
    expect(file.tensors.get(name)).toMatchObject({ dtype: 'I8' });
    const codes = new Int8Array(await file.readBytes(name));
    const scales = await file.readFloat32(`${name}_scale`);
    await file.close();
    expect(codes.reduce((most, code) => Math.max(most, Math.abs(code)), 0)).toBe(CODE_LIMIT);
    expect(scales).toHaveLength(file.tensors.get(name)?.shape[0] ?? -1);
  });

  it('is refused where a matrix has lost its scales, by name', async () => {
    await quantiseModel({ source: goldenFolder('tied'), output, idf: 'none' });
    const path = join(output, 'model.safetensors');
    const lost = 'bert.encoder.layer.0.output.dense.weight';
    await rewriteWithout(path, `${lost}_scale`);
    const checkpoint = await Checkpoint.open(output);
    await expect(checkpoint.read(lost)).rejects.toThrow(CheckpointError);
    await expect(checkpoint.read(lost)).rejects.toThrow(`${lost} holds I8 codes without scales`);
    await checkpoint.close();
  });

  it('is not made of a checkpoint without a head: it could not encode', async () => {
    const source = join(folder, 'headless');
    cpSync(goldenFolder('tied'), source, { recursive: true });
    await rewriteWeights(source, (name) => name.startsWith('bert.'));
    const making = quantiseModel({ source, output, idf: 'none' });
    await expect(making).rejects.toMatchObject({
      message: expect.stringContaining('no MLM head'),
      hint: expect.stringContaining(`lzero model import ${source} -o MODEL --head pooled`),
    });
    expect(existsSync(output)).toBe(false);
  });

  it('of a DistilBERT gives the bits that quantising while loading gives', async () => {
    const source = join(import.meta.dirname, '../../../test/golden/models/distilbert');
    await quantiseModel({ source, output, idf: 'none' });
    const stored = await vectors(output, golden.texts);
    expect(stored).toEqual(await vectors(source, golden.texts, { idf: 'none', precision: 'int8' }));
  });

  it('is not made of a model without a network, and replaces nothing unless forced', async () => {
    await expect(quantiseModel({ source: 'models/bow', output })).rejects.toThrow(ConfigError);
    const options = { source: goldenFolder('tied'), output, idf: 'none' };
    await quantiseModel(options);
    writeFileSync(join(output, 'README.md'), 'mine');
    await expect(quantiseModel(options)).rejects.toThrow('exists already');
    expect(readFileSync(join(output, 'README.md'), 'utf8')).toBe('mine');
    await quantiseModel({ ...options, force: true });
    expect(readFileSync(join(output, 'README.md'), 'utf8')).not.toBe('mine');
  });
});

describe('a folder with tables in 4 bits', () => {
  const WORDS = 'bert.embeddings.word_embeddings.weight';
  const DECODER = 'cls.predictions.decoder.weight';
  const wordsOf = async (path: string) => {
    const checkpoint = await Checkpoint.open(path);
    try {
      return { shape: checkpoint.entry(WORDS).shape, values: await checkpoint.read(WORDS) };
    } finally {
      await checkpoint.close();
    }
  };
  const inFourBits = (name: string) =>
    quantiseModel({ source: goldenFolder(name), output, idf: 'none', tables: '4bit' });

  it.each([
    ['tied', [WORDS]],
    ['untied', [DECODER, WORDS]],
  ])('holds two codes a byte for each table with a row a term, and all else in 8 bits: %s', async (name, tables) => {
    const { tables: said, sizeBytes } = await inFourBits(name);
    const eight = await quantiseModel({ source: goldenFolder(name), output: join(folder, '8'), idf: 'none' });
    expect([said, eight.tables]).toEqual(['4bit', '8bit']);
    const types = async (path: string) => {
      const file = await openSafetensors(join(path, 'model.safetensors'));
      await file.close();
      return file.tensors;
    };
    const [packed, whole] = [await types(output), await types(join(folder, '8'))];
    expect([...packed.keys()].sort()).toEqual([...whole.keys()].sort());
    let saved = 0;
    for (const [tensor, { dtype, shape }] of whole) {
      const isTable = tables.includes(tensor);
      const halved = { dtype: 'U8', shape: [shape[0], shape[1] / 2] };
      expect(packed.get(tensor)).toMatchObject(isTable ? halved : { dtype, shape });
      if (isTable) saved += (shape[0] * shape[1]) / 2;
    }
    expect(Math.abs(eight.sizeBytes - sizeBytes - saved)).toBeLessThan(16); // but for the header
  });

  it('is read as levels × scale of the stored codes, and the int8 network has those codes', async () => {
    await inFourBits('tied');
    const file = await openSafetensors(join(output, 'model.safetensors'));
    const bytes = new Uint8Array(await file.readBytes(WORDS));
    const scales = await file.readFloat32(`${WORDS}_scale`);
    await file.close();
    const { shape, values } = await wordsOf(output);
    const codes = Int8Array.from(values, (_, i) => LEVELS[i % 2 === 0 ? bytes[i >> 1] & 15 : bytes[i >> 1] >> 4]);
    expect(shape).toEqual([277, 24]);
    expect(values).toEqual(values.map((_, i) => codes[i] * scales[Math.floor(i / 24)]));
    const isZero = (i: number) => scales[Math.floor(i / 24)] === 0; // the row of [PAD]
    const inEight = { codes: codes.map((code, i) => (isZero(i) ? 0 : code)), scales, rowSize: 24 };
    expect(quantiseRows(values, 24)).toEqual(inEight);
  });

  it('holds the term vectors of a topic head in 4 bits, too, and gives what they give in 8', async () => {
    const source = await writeTopicModel(join(folder, 'topic'));
    await quantiseModel({ source, output, idf: 'none', tables: '4bit' });
    const file = await openSafetensors(join(output, 'model.safetensors'));
    await file.close();
    for (const name of [WORDS, TOPIC.terms])
      expect(file.tensors.get(name)).toMatchObject({ dtype: 'U8', shape: [277, 12] });
    const eight = join(folder, '8');
    await quantiseModel({ source: output, output: eight, tables: '8bit' });
    const found = await vectors(output, golden.texts);
    expect(found.some(({ terms }) => terms.length > 10)).toBe(true);
    expect(await vectors(eight, golden.texts)).toEqual(found);
  });

  it('is the same model with those tables in 8 bits, with the same vectors, and another one than its source in int8', async () => {
    await inFourBits('untied');
    const eight = join(folder, '8');
    expect(await quantiseModel({ source: output, output: eight, tables: '8bit' })).toMatchObject({ tables: '8bit' });
    expect(await vectors(eight, golden.texts)).toEqual(await vectors(output, golden.texts));
    const identity = async (of: string, options: LoadOptions = {}) => (await loadModel(of, options)).identity();
    expect(await identity(eight)).toBe(await identity(output));
    const source = await identity(goldenFolder('untied'), { idf: 'none', precision: 'int8' });
    expect(await identity(output)).not.toBe(source);
  });

  it('stays in 4 bits, to the byte, where it is quantised, imported or converted again, and its card says so', async () => {
    await inFourBits('tied');
    const weights = (of: string) => readFileSync(join(of, 'model.safetensors'));
    const again = join(folder, 'again');
    const remakes = [
      () => quantiseModel({ source: output, output: again, force: true }),
      () => quantiseModel({ source: output, output: again, tables: '4bit', force: true }),
      () => importModel({ source: output, output: again, prune: { rule: 'top-k', k: 9 }, force: true }),
      () => convertModel({ source: output, output: again, to: 'lzero', force: true }),
      () => convertModel({ source: output, output: again, to: 'lzero', precision: 'int8', force: true }),
    ];
    for (const remake of remakes) {
      await remake();
      expect(weights(again).equals(weights(output))).toBe(true);
      expect(readFileSync(join(again, 'README.md'), 'utf8')).toContain('tables of terms in 4-bit codes, run as int8');
    }
  });

  it('goes into other layouts as what its codes stand for', async () => {
    await inFourBits('tied');
    const floats = join(folder, 'st');
    await convertModel({ source: output, output: floats, to: 'sentence-transformers', precision: 'fp32' });
    const own = { folder: output, options: { precision: 'fp32' } } as const;
    const difference = await compareVectors(own, { folder: floats }, golden.texts);
    expect(difference).toMatchObject({ numOnlyInOne: 0, largest: 0 });
  });

  it('of the embedded model gives a mean cosine of 0.99 with its float32, and none below 0.98', {
    timeout: 120_000,
  }, async () => {
    await quantiseModel({ source: 'default', output, tables: '4bit' });
    const texts = (await fixedTexts()).slice(2, 12); // passages of the embedded collection
    const fp32 = await vectors('default', texts, { precision: 'fp32' });
    const small = await vectors(output, texts);
    const cosines = fp32.map((vector, i) => cosine(vector, small[i]));
    expect(cosines.reduce((sum, x) => sum + x, 0) / texts.length).toBeGreaterThanOrEqual(0.99);
    expect(Math.min(...cosines)).toBeGreaterThanOrEqual(0.98);
  });

  it('is refused where a table has other sizes or has lost its scales, by name', async () => {
    await inFourBits('tied');
    const path = join(output, 'model.safetensors');
    const whole = readFileSync(path);
    const opened = () => Checkpoint.open(output);
    await rewriteCodes(path, (tensor) =>
      tensor.name === WORDS && tensor.dtype === 'U8'
        ? { ...tensor, shape: [277, 11], values: tensor.values.slice(0, 277 * 11) }
        : tensor,
    );
    await expect(opened()).rejects.toThrow(CheckpointError);
    await expect(opened()).rejects.toThrow(
      `the tensor ${WORDS}, two 4-bit codes a byte, has shape [277, 22], config.json asks for [277, 24]`,
    );
    writeFileSync(path, whole);
    await rewriteCodes(path, (tensor) =>
      tensor.name === `${WORDS}_scale` && tensor.dtype === 'F32'
        ? { ...tensor, shape: [276], values: tensor.values.slice(0, 276) }
        : tensor,
    );
    await expect(wordsOf(output)).rejects.toThrow(`${WORDS} has shape [277, 12], which 276 scales do not fit`);
    writeFileSync(path, whole);
    await rewriteWithout(path, `${WORDS}_scale`);
    await expect(wordsOf(output)).rejects.toThrow(`${WORDS} holds U8 codes without scales`);
  });

  it('is not made of a table with an odd number of columns', async () => {
    const source = join(folder, 'odd');
    cpSync(goldenFolder('tied'), source, { recursive: true });
    changeConfig(source, { hidden_size: 23, num_attention_heads: 1 });
    await rewriteCodes(join(source, 'model.safetensors'), (tensor) => {
      const shape = tensor.shape.map((size) => (size === 24 ? 23 : size));
      const values = new Float32Array(tensor.values).slice(0, numValues(shape));
      return { name: tensor.name, dtype: 'F32', shape, values };
    });
    await expect(quantiseModel({ source, output, idf: 'none', tables: '4bit' })).rejects.toThrow(ConfigError);
    await expect(quantiseModel({ source, output, idf: 'none', tables: '4bit' })).rejects.toThrow('rows of 23 weights');
    expect(existsSync(output)).toBe(false);
    expect(await quantiseModel({ source, output, idf: 'none' })).toMatchObject({ tables: '8bit' });
  });
});

describe('a folder with feed-forward layers in 4 bits', () => {
  const makeSmall = (source: string, changes: Partial<QuantiseOptions> = {}) =>
    quantiseModel({ source, output, idf: 'none', feedForward: '4bit', ...changes });

  it.each(['tied', 'untied'])(
    'holds two codes a byte for both matrices of each layer, and no others: %s',
    async (name) => {
      const report = await makeSmall(goldenFolder(name));
      expect(report).toMatchObject({ tables: '8bit', feedForward: '4bit' });
      const file = await openSafetensors(join(output, 'model.safetensors'));
      await file.close();
      const packed = [...file.tensors].filter(([, { dtype }]) => dtype === 'U8').map(([tensor]) => tensor);
      const layers = [0, 1].map((layer) => `bert.encoder.layer.${layer}`);
      const expected = layers.flatMap((layer) => [
        `${layer}.intermediate.dense.weight`,
        `${layer}.output.dense.weight`,
      ]);
      expect(packed.sort()).toEqual(expected.sort());
    },
  );

  it('is the same model with all in 8 bits, and stays in 4 bits beside tables that are, too', async () => {
    await makeSmall(goldenFolder('untied'));
    const [eight, both, again] = ['8', 'both', 'again'].map((name) => join(folder, name));
    await quantiseModel({ source: output, output: eight, feedForward: '8bit' });
    expect(await vectors(eight, golden.texts)).toEqual(await vectors(output, golden.texts));
    const small = { tables: '4bit', feedForward: '4bit' };
    expect(await quantiseModel({ source: output, output: both, tables: '4bit' })).toMatchObject(small);
    expect(await quantiseModel({ source: both, output: again })).toMatchObject(small);
    const weights = [both, again].map((path) => readFileSync(join(path, 'model.safetensors')));
    expect(weights[0].equals(weights[1])).toBe(true);
    expect(readFileSync(join(again, 'README.md'), 'utf8')).toContain(
      'tables of terms and feed-forward layers in 4-bit codes, run as int8',
    );
  });
});

/** The same file without one tensor. */
async function rewriteWithout(path: string, dropped: string): Promise<void> {
  await rewriteCodes(path, (tensor) => (tensor.name === dropped ? undefined : tensor));
}

/** The same file with some tensors changed or left out. */
async function rewriteCodes(path: string, change: (tensor: TensorToWrite) => TensorToWrite | undefined): Promise<void> {
  const file = await openSafetensors(path);
  const tensors = await Promise.all(
    [...file.tensors].map(async ([name, { dtype, shape }]): Promise<TensorToWrite> => {
      if (dtype === 'I8') return { name, dtype, shape, values: new Int8Array(await file.readBytes(name)) };
      if (dtype === 'U8') return { name, dtype, shape, values: new Uint8Array(await file.readBytes(name)) };
      return { name, dtype: 'F32', shape, values: await file.readFloat32(name) };
    }),
  );
  await file.close();
  await writeSafetensors(
    path,
    tensors.flatMap((tensor) => change(tensor) ?? []),
  );
}
