/** Models with a lexical part: what becomes of their vectors, and of their settings in folders of others. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeAll, golden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { writeSiameseFolder } from '../../test/lib/sparse-encoder-folder.ts';
import { sumOf } from '../core/index.ts';
import { convertModel } from './convert.ts';
import { importModel } from './import.ts';
import { lexicalPart } from './lexical.ts';
import { loadModel, type Model } from './model.ts';
import { prune } from './prune.ts';

const LEXICAL = { gain: 0.5, k1: 0.9, b: 0.4, averageLength: 20, minIdf: 0 };
const KEEP = { rule: 'top-k', k: 12 } as const;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-lexical-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function made(name: string, options: object): Promise<string> {
  const output = join(folder, name);
  await importModel({
    source: goldenFolder('tied'),
    output,
    idf: 'none',
    activation: 'l0',
    encodeLength: 12,
    ...options,
  });
  return output;
}

async function withModel<T>(path: string, work: (model: Model) => Promise<T>): Promise<T> {
  const model = await loadModel(path);
  try {
    return await work(model);
  } finally {
    await model.close();
  }
}

const vectorsOf = (path: string) => withModel(path, (model) => encodeAll(model, golden.texts));

describe('a model with a lexical part', () => {
  it('adds it to the vectors of its network, words beyond its length included, and prunes the sum', async () => {
    const bare = await vectorsOf(await made('bare', {}));
    const path = await made('words', { lexical: LEXICAL, prune: KEEP });
    const whole = await vectorsOf(path);
    await withModel(path, async ({ tokenizer, idf }) => {
      const terms = { idf: idf.values, droppedTerms: tokenizer.vocabulary.specialIds };
      expect(bare.some(({ truncated }) => truncated)).toBe(true);
      golden.texts.forEach((text, i) => {
        const own = lexicalPart(tokenizer.encode(text), LEXICAL, terms);
        expect(whole[i].vector).toEqual(prune(sumOf(bare[i].vector, own), KEEP));
      });
    });
  });

  it('is another model, whose index covers its weights, and says so in its card', async () => {
    const [bare, words] = [await made('bare', {}), await made('words', { lexical: LEXICAL })];
    const facts = await Promise.all(
      [bare, words].map((path) => withModel(path, async (model) => [await model.identity(), model.maxWeight] as const)),
    );
    expect(facts[1][0]).not.toBe(facts[0][0]);
    expect(facts[1][1] - facts[0][1]).toBeCloseTo(LEXICAL.gain, 12);
    expect(readFileSync(join(words, 'README.md'), 'utf8')).toContain('lexical part | gain:0.5,k1:0.9');
  });

  it('loses it on request, when it is imported or converted, and not otherwise', async () => {
    const words = await made('words', { lexical: LEXICAL });
    const kept = await importModel({ source: words, output: join(folder, 'kept') });
    expect(kept.settings).toMatchObject({ lexical: LEXICAL });
    const without = await importModel({ source: words, output: join(folder, 'without'), lexical: 'none' });
    expect(without.settings).not.toHaveProperty('lexical');
    const onnx = { source: words, output: join(folder, 'onnx'), to: 'onnx' } as const;
    await expect(convertModel(onnx)).rejects.toThrow('the lexical part (gain:0.5');
    const { dropped, settings } = await convertModel({ ...onnx, drop: ['lexical'] });
    expect(dropped).toEqual(['lexical']);
    expect(settings).not.toHaveProperty('lexical');
  });

  it('cannot be one that encodes queries, nor one without a network of ours', async () => {
    const siamese = join(folder, 'siamese');
    writeSiameseFolder(siamese, '6');
    const output = join(folder, 'out');
    await expect(importModel({ source: siamese, output, lexical: LEXICAL })).rejects.toThrow('documents alone');
    await expect(importModel({ source: 'bow', output, lexical: LEXICAL })).rejects.toThrow('takes no lexical');
  });
});
