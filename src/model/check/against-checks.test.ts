/** Two models held against each other: each part that differs is found, and no other. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BROKEN,
  CHANGES,
  changeJson,
  checkFor,
  idfTable,
  putNaN,
  rewriteWeights,
  TOKENS,
  writeJson,
  writeSoundModel,
  writeSoundWords,
} from '../../../test/golden/check/fixtures.ts';
import { tokenizerJson } from '../../../test/golden/text/fixtures.ts';
import { quantiseModel } from '../int8/quantise-model.ts';
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

/** What differs between the two. */
async function differing(): Promise<CheckResult[]> {
  const { checks } = await checkModel(folder, { against: other });
  return checks.filter(({ verdict }) => verdict === 'differs');
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
  });

  it('reports another model that is broken', async () => {
    await putNaN(other, 'cls.predictions.bias');
    const result = await checkFor('against-vectors', folder, { against: other });
    expect(result).toMatchObject({ ...BROKEN, found: [expect.stringContaining('NaN')] });
  });
});
