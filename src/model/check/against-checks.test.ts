/** Two models held against each other: each part that differs is found, and no other. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BROKEN,
  CHANGES,
  changeJson,
  checkFor,
  idfTable,
  OK,
  putNaN,
  rewriteWeights,
  TOKENS,
  writeJson,
  writeSoundModel,
  writeSoundWords,
} from '../../../test/golden/check/fixtures.ts';
import { goldenFolder } from '../../../test/golden/model/fixtures.ts';
import { tokenizerJson } from '../../../test/golden/text/fixtures.ts';
import {
  negativeWeights,
  writeQueryTensor,
  writeRouterFolder,
  writeSiameseFolder,
} from '../../../test/lib/sparse-encoder-folder.ts';
import { convertModel } from '../convert.ts';
import { importModel } from '../import.ts';
import { quantiseModel } from '../int8/quantise-model.ts';
import type { Droppable } from '../layouts/losses.ts';
import { checkModel } from './check-model.ts';
import type { CheckId, CheckResult } from './report.ts';

let root: string;
let folder: string;
let other: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-check-'));
  [folder, other] = [join(root, 'model'), join(root, 'other')];
});
afterEach(() => rmSync(root, { recursive: true }));

/** What differs between the two, or is broken about one of them. */
async function differing(model = folder): Promise<CheckResult[]> {
  const { checks } = await checkModel(model, { against: other });
  return checks.filter(({ verdict }) => verdict === 'differs' || verdict === 'broken');
}

type Change = () => void | Promise<void>;

/** Holds the two to differ in one part, and in their vectors by that. */
async function expectOnly(id: CheckId, change: Change): Promise<void> {
  await change();
  const found = await differing();
  expect(found.map((one) => one.id)).toEqual([id, 'against-vectors']);
  for (const one of found) expect({ changesScores: true, ...one }).toMatchObject(CHANGES);
}

describe('of two models without a network', () => {
  beforeEach(() => {
    writeSoundWords(folder);
    writeSoundWords(other);
  });

  it.each<[CheckId, Change]>([
    ['against-query-weights', () => writeJson(other, 'idf.json', { ...idfTable(), the: 7, river: 0.5 })],
    [
      'against-tokenizer',
      () => {
        const normalizer = { type: 'BertNormalizer', lowercase: false };
        writeJson(other, 'tokenizer.json', { ...tokenizerJson(TOKENS), normalizer });
      },
    ],
  ])('finds the difference for %s, and no other but that of the vectors', expectOnly);
});

describe('of a model of sentence-transformers and what was made of it', () => {
  const made = (drop: Droppable) =>
    convertModel({ source: other, output: folder, to: 'sentence-transformers', drop: [drop] });
  /** Something that lzero reads alike in both: found by its id alone, either way round, and measured. */
  async function expectFound(id: CheckId, words: string): Promise<void> {
    const there = await checkModel(other, { against: folder });
    const here = await checkModel(folder, { against: other });
    for (const { checks, changesScores } of [there, here]) {
      const faults = checks.filter((one) => one.id.startsWith('against') && one.verdict !== 'ok');
      expect(faults).toMatchObject([
        { id, verdict: 'differs', found: expect.arrayContaining([expect.stringContaining(words)]) },
      ]);
      expect(faults[0].effect?.numChangedScores).toBeGreaterThan(0);
      expect(changesScores).toBe(true);
    }
  }

  it('finds query weights below 0 that have become 0: its scores are others there', async () => {
    await writeRouterFolder(other, '6');
    await writeQueryTensor(join(other, 'query_0_SparseStaticEmbedding'), negativeWeights);
    const numNegative = negativeWeights.filter((weight) => weight < 0).length;
    await made('negative-weights');
    await expectFound('against-query-weights', `weighs ${numNegative} of 277 tokens in another way`);
    rmSync(folder, { recursive: true });
    await importModel({ source: other, output: folder }); // has the same table, of which lzero takes none below 0
    await expectFound('against-query-weights', 'and as 0 in all vectors of lzero');
  });

  it('finds special tokens that have lost their weights', async () => {
    writeSiameseFolder(other, '6');
    await made('special-tokens');
    await expectFound('against-special-tokens', `keeps the weights that ${other} gives them`);
  });
});

describe('of two models with a network', () => {
  beforeEach(() => {
    writeSoundModel(folder);
    writeSoundModel(other);
  });

  it('finds two copies equal', async () => {
    const result = await checkFor('against-vectors', folder, { against: other });
    expect(result).toMatchObject({ verdict: 'ok', changesScores: false });
  });

  it.each<[CheckId, Change]>([
    ['against-settings', () => changeJson(other, 'lzero.json', { activation: 'l0', prune: { rule: 'top-k', k: 5 } })],
    ['against-settings', () => changeJson(other, 'lzero.json', { queries: 'encoded' })],
    [
      'against-head',
      () =>
        rewriteWeights(
          other,
          () => true,
          (name, values) => (name === 'cls.predictions.bias' ? values.map((x) => x + 0.1) : values),
        ),
    ],
    ['against-config', () => changeJson(other, 'config.json', { layer_norm_eps: 0.1 })],
    ['against-config', () => changeJson(other, 'config.json', { hidden_act: 'relu' })],
    ['against-config', () => changeJson(other, 'config.json', { num_attention_heads: 1 })],
  ])('finds the difference for %s, and no other but that of the vectors', expectOnly);

  it('names how queries are made', async () => {
    changeJson(other, 'lzero.json', { queries: 'encoded' });
    const { found } = await checkFor('against-settings', folder, { against: other });
    expect(found).toEqual([`queries is looked up in ${folder}, encoded in ${other}`]);
  });

  it('names the precision, of which the vectors come', async () => {
    rmSync(other, { recursive: true });
    await quantiseModel({ source: folder, output: other });
    const { found } = await checkFor('against-settings', folder, { against: other });
    expect(found).toEqual([`precision is fp32 in ${folder}, int8 in ${other}`]);
    // The other way round too, rounding is all that makes the vectors others.
    for (const [one, against] of [
      [folder, other],
      [other, folder],
    ]) {
      const { checks } = await checkModel(one, { against });
      const effectIn = (id: CheckId) => checks.find((check) => check.id === id)?.effect;
      expect(effectIn('against-settings')).toEqual(effectIn('against-vectors'));
    }
  });

  it('names what config.json says', async () => {
    changeJson(other, 'config.json', { layer_norm_eps: 0.1, hidden_act: 'relu' });
    const { found } = await checkFor('against-config', folder, { against: other });
    expect(found).toEqual([
      `layer_norm_eps is 1e-12 in ${folder}, 0.1 in ${other}`,
      `hidden_act is gelu in ${folder}, relu in ${other}`,
    ]);
  });

  it('calls weights in 8 bits those that they were rounded from, and others not', async () => {
    rmSync(other, { recursive: true });
    await quantiseModel({ source: folder, output: other });
    for (const [one, two] of [
      [folder, other],
      [other, folder],
    ]) {
      const head = await checkFor('against-head', one, { against: two });
      expect(head).toMatchObject({
        verdict: 'ok',
        found: [expect.stringContaining('in fewer bits in one of the two')],
      });
    }
    const shifted = 'cls.predictions.transform.dense.weight';
    await rewriteWeights(
      folder,
      () => true,
      (name, values) => (name === shifted ? values.map((x) => x * 1.1) : values),
    );
    const { verdict, found } = await checkFor('against-head', folder, { against: other });
    expect([verdict, found]).toEqual(['differs', [expect.stringMatching(`^1 of \\d+ tensors differ, ${shifted}`)]]);
  });

  it('calls tables in 4 bits those that they were rounded from, and names them beside those of 8', async () => {
    rmSync(other, { recursive: true });
    await quantiseModel({ source: folder, output: other, tables: '4bit' });
    const rounded = await checkFor('against-head', other, { against: folder });
    expect(rounded).toMatchObject({
      verdict: 'ok',
      found: [expect.stringContaining('in fewer bits in one of the two')],
    });
    const eight = join(root, 'eight');
    await quantiseModel({ source: folder, output: eight });
    const { verdict, found } = await checkFor('against-head', other, { against: eight });
    expect([verdict, found]).toEqual(['differs', [expect.stringMatching(/^\d of \d+ tensors differ, .*embeddings/)]]);
  });

  it('finds an ONNX export of the same vectors equal', async () => {
    rmSync(other, { recursive: true });
    await convertModel({ source: folder, output: other, to: 'onnx' });
    expect(await differing()).toEqual([]);
    const { found } = await checkFor('against-settings', other, { against: folder });
    expect(found).toContain(`kind is onnx in ${other}, bert in ${folder}: only a form, if the vectors are the same`);
  });

  it('gives what an int8 export does to the precision', async () => {
    rmSync(other, { recursive: true });
    await convertModel({ source: folder, output: other, to: 'onnx', precision: 'int8' });
    const [settings, vectors] = await differing();
    expect([settings.id, vectors.id]).toEqual(['against-settings', 'against-vectors']);
    expect(settings.found[0]).toBe(`precision is fp32 in ${folder}, int8 in ${other}`);
    expect(settings.effect).toEqual(vectors.effect);
    expect(settings.effect?.numChangedScores).toBeGreaterThan(0);
  });

  it('gives what a graph has inside to the setting that names it', async () => {
    const graph = join(root, 'graph');
    await convertModel({ source: folder, output: graph, to: 'onnx' });
    changeJson(other, 'lzero.json', { activation: 'l0' });
    const [settings, vectors] = await differing(graph);
    expect([settings.id, vectors.id]).toEqual(['against-settings', 'against-vectors']);
    expect(settings.found[0]).toBe(`activation is relu in ${graph}, l0 in ${other}`);
    expect(settings.effect).toEqual(vectors.effect);
    expect(settings.effect?.numChangedScores).toBeGreaterThan(0);
  });

  it('gives what a network does to the kind, where the other has none', async () => {
    rmSync(other, { recursive: true });
    writeSoundWords(other);
    const [settings, vectors] = await differing();
    expect(settings.found).toEqual([`kind is bert in ${folder}, bow in ${other}`]);
    expect(settings.effect).toEqual(vectors.effect);
  });

  it('finds a conversion for sentence-transformers equal, although it silences special tokens', async () => {
    rmSync(other, { recursive: true });
    await convertModel({ source: folder, output: other, to: 'sentence-transformers' });
    expect(await differing()).toEqual([]);
    const vectors = await checkFor('against-vectors', folder, { against: other });
    expect(vectors).toMatchObject({ ...OK, found: ['14 documents and 14 queries have the same vectors'] });
  });

  it('says so where no part is known to differ', async () => {
    rmSync(other, { recursive: true });
    await convertModel({ source: folder, output: other, to: 'onnx' });
    await rewriteWeights(
      folder,
      () => true,
      (name, values) => (name === 'cls.predictions.bias' ? values.map((x) => x + 0.1) : values),
    );
    expect(await differing()).toMatchObject([
      { id: 'against-vectors', fix: expect.stringMatching(/^no part above differs/) },
    ]);
  });

  it('gives the other one those of the options that its files leave open', async () => {
    rmSync(folder, { recursive: true });
    cpSync(goldenFolder('tied'), folder, { recursive: true });
    const table = join(root, 'table.json');
    writeJson(root, 'table.json', idfTable());
    const checkpoint = { activation: 'relu', encodeLength: 128, idf: table } as const;
    for (const to of ['lzero', 'sentence-transformers', 'opensearch'] as const) {
      rmSync(other, { recursive: true });
      await convertModel({ source: folder, output: other, to, ...checkpoint });
      const vectors = await checkFor('against-vectors', folder, { against: other, checkpoint });
      expect(vectors).toMatchObject({ verdict: 'ok' });
    }
    rmSync(other, { recursive: true });
    cpSync(folder, other, { recursive: true }); // leaves everything open, so that all options are its own, too
    expect(await checkFor('against-vectors', folder, { against: other, checkpoint })).toMatchObject({ verdict: 'ok' });
  });

  it('reports another model that is broken', async () => {
    await putNaN(other, 'cls.predictions.bias');
    const result = await checkFor('against-vectors', folder, { against: other });
    expect(result).toMatchObject({ ...BROKEN, found: [expect.stringContaining('NaN')] });
  });
});
