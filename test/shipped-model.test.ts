/** The models that ship: small, licensed, and giving what they gave when they were made, on any machine. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatLexical, formatPruneRule, loadModel, type Precision } from '../src/model/index.ts';
import { fixedTexts, golden, SHIPPED } from './golden/shipped/fixtures.ts';
import { embeddedNdcg, vectorsOf } from './golden/shipped/measure.ts';

const MAX_BYTES: Readonly<Record<string, number>> = { default: 30e6, tiny: 6e6 };
const TIMEOUT = { timeout: 120_000 };

async function encoded(name: string, precision: Precision): Promise<Map<string, number>[]> {
  const model = await loadModel(name, { precision });
  try {
    return await vectorsOf(model, await fixedTexts());
  } finally {
    await model.close();
  }
}

type Vector = ReadonlyMap<string, number>;

/** The weight that a model prunes at; 0 where it keeps all. */
async function leastWeight(name: string): Promise<number> {
  const { settings } = await loadModel(name);
  return settings.prune.rule === 'threshold' ? settings.prune.threshold : 0;
}

function cosine(a: Vector, b: Vector): number {
  const norm = (v: Vector): number => Math.hypot(...v.values());
  const product = [...a].reduce((sum, [token, weight]) => sum + weight * (b.get(token) ?? 0), 0);
  return a.size === 0 && b.size === 0 ? 1 : product / (norm(a) * norm(b));
}

describe.each(SHIPPED)('the shipped model %s', (name) => {
  const stored = golden(name).vectors.map((vector) => new Map(Object.entries(vector)));

  it('is of the size that was promised, with a card that names its licence, sources and limits', async () => {
    const model = await loadModel(name);
    const size = readdirSync(model.folder).reduce((sum, file) => sum + statSync(join(model.folder, file)).size, 0);
    expect(size).toBeLessThanOrEqual(MAX_BYTES[name]);
    const card = readFileSync(join(model.folder, 'README.md'), 'utf8');
    for (const part of ['Apache-2.0', 'Training data', 'Limits', 'Hours']) expect(card).toContain(part);
    expect(card).not.toMatch(/\b(METRICS|HOURS|LEXICAL|PRUNE|DOCS|QUERIES)\b/); // what was to be filled in
    const { settings } = model;
    const lexical = settings.kind === 'bert' && settings.lexical ? formatLexical(settings.lexical) : 'none';
    for (const setting of [lexical, formatPruneRule(settings.prune)]) expect(card).toContain(setting);
    await model.close();
  });

  it('is the one that the stored vectors are of', async () => {
    const model = await loadModel(name);
    expect(await model.identity()).toBe(golden(name).identity);
    await model.close();
  });

  it('gives the stored vectors of fifty texts in fp32, within 1e-4', TIMEOUT, async () => {
    const vectors = await encoded(name, 'fp32');
    const least = await leastWeight(name);
    expect(vectors.length).toBe(50);
    vectors.forEach((vector, i) => {
      for (const token of new Set([...vector.keys(), ...stored[i].keys()])) {
        const [a, b] = [vector.get(token) ?? least, stored[i].get(token) ?? least]; // pruned ones were at most that
        expect(Math.abs(a - b), `text ${i}, ${token}`).toBeLessThan(1e-4);
      }
    });
  });

  it('gives them in int8 with a cosine of at least 0.99', TIMEOUT, async () => {
    const vectors = await encoded(name, 'int8');
    vectors.forEach((vector, i) => {
      expect(cosine(vector, stored[i]), `text ${i}`).toBeGreaterThanOrEqual(0.99);
    });
  });

  it('has its NDCG@10 on the embedded collection, ± 0.005', TIMEOUT, async () => {
    expect(Math.abs((await embeddedNdcg(name)) - golden(name).ndcg10)).toBeLessThanOrEqual(0.005);
  });
});
