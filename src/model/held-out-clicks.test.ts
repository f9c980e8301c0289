/** Held-out clicks on the small topic model: what is learned from, and what is not. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTopicModel } from '../../test/lib/convert-models.ts';
import { Random } from '../core/index.ts';
import type { Click } from './adapt-model.ts';
import { type HeldOutClicks, holdOutClicks } from './held-out-clicks.ts';
import { type ModelFolder, readModelFolder } from './model-folder.ts';
import type { Rows } from './pooled-matrix.ts';
import type { BertSettings } from './settings.ts';

let folder: string;
let model: ModelFolder & { readonly settings: BertSettings };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-held-out-'));
  await writeTopicModel(folder);
  const read = await readModelFolder(folder, { idf: 'none' });
  if (read.settings.kind !== 'bert') throw new Error('bug: the model has a network');
  model = { ...read, settings: read.settings };
});
afterAll(() => rmSync(folder, { recursive: true }));

const WIDTH = 24;
const NUM_DOCS = 8;
/** Documents that have nothing to do with each other, and no text that a query has a word of. */
const texts = Array.from({ length: NUM_DOCS }, (_, d) => `${d}`);
const states: Rows = {
  data: Float32Array.from({ length: NUM_DOCS * WIDTH }, (_, i) => (i % WIDTH === Math.floor(i / WIDTH) ? 4 : 0)),
  width: WIDTH,
};
const sample = texts.map((_, d) => d);

const hold = (clicks: readonly Click[], penalties: readonly number[] = [0.3]): Promise<HeldOutClicks> =>
  holdOutClicks(model, { clicks, sample, states, texts, penalties });

/** The share of queries whose document came first. */
function foundFirst({ opened, after }: HeldOutClicks, penalty = 0.3): number {
  const rankings = after.get(penalty) ?? [];
  return rankings.filter((found, q) => found[0]?.document === opened[q][0]).length / opened.length;
}

const SUBJECTS = ['river', 'bread', 'moon', 'bird'];
const OTHERS = ['stone', 'boat', 'winter', 'wind', 'tower', 'road', 'iron', 'glass', 'bell', 'smoke', 'ash', 'rain'];

describe('clicks that are held out', () => {
  it('are answered by what others have taught of their words: a subject that many asked for leads to its document', async () => {
    const clicks = SUBJECTS.flatMap((subject, d) =>
      OTHERS.map((other) => ({ query: `${subject} ${other}`, documents: [d] })),
    );
    expect(foundFirst(await hold(clicks))).toBeGreaterThan(0.9);
  });

  it('teach nothing of themselves: where no two queries share a word, nothing changes', async () => {
    const words = [...SUBJECTS, ...OTHERS, 'letter', 'paper', 'ink', 'king', 'queen', 'map', 'star', 'sun'];
    const clicks = words.map((query, q) => ({ query, documents: [q % NUM_DOCS] }));
    const { before, after } = await hold(clicks, [0.1, 10]);
    expect(after.get(0.1)).toEqual(before);
    expect(after.get(10)).toEqual(before);
  });

  it('are not taught by another query of the same words', async () => {
    const words = [...SUBJECTS, ...OTHERS, 'letter', 'paper', 'ink', 'king'];
    const once = words.map((query, q) => ({ query, documents: [q % NUM_DOCS] }));
    const { before, after } = await hold([...once, ...new Random(1).shuffle([...once])]);
    expect(after.get(0.3)).toEqual(before);
  });

  it('are found among what was opened and the sample', async () => {
    const clicks = SUBJECTS.flatMap((subject) =>
      OTHERS.map((other) => ({ query: `${subject} ${other}`, documents: [7] })),
    );
    const held = await holdOutClicks(model, { clicks, sample: [1, 2], states, texts, penalties: [1] });
    expect(held.numDocuments).toBe(3);
    const found = new Set([...(held.after.get(1) ?? [])].flat().map(({ document }) => document));
    expect([7, 1, 2]).toEqual(expect.arrayContaining([...found]));
    expect(found).toContain(7);
  });

  it('of which there are thousands are held out of one part, of which five hundred are asked', async () => {
    const words = [...SUBJECTS, ...OTHERS];
    const clicks = words.flatMap((a, d) =>
      words.flatMap((b) => words.map((c) => ({ query: `${a} ${b} ${c}`, documents: [d % NUM_DOCS] }))),
    );
    expect(clicks.length).toBeGreaterThan(2_500);
    const held = await hold(clicks, [1]);
    expect(held.opened).toHaveLength(500);
    expect((held.after.get(1) ?? []).every((found) => found.length > 0)).toBe(true);
  });

  it('want twenty different queries', async () => {
    const clicks = OTHERS.flatMap((query) => [
      { query, documents: [0] },
      { query, documents: [1] },
    ]);
    await expect(hold(clicks)).rejects.toThrow(/12 different queries are too few[\s\S]*20 are needed/);
  });
});
