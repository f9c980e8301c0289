/**
 * Checkpoints of every kind: our vectors, query weights and scores are those of transformers and sentence-transformers
 * (scripts/golden-models.py).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SparseVector } from '../../src/core/index.ts';
import { ACTIVATIONS, importModel, loadModel, type Model } from '../../src/model/index.ts';
import { pruneSchema } from '../../src/model/prune.ts';
import { encodeAll } from './model/fixtures.ts';

const MODELS = join(import.meta.dirname, 'models');

const byToken = z.record(z.string(), z.number());
const golden = z
  .object({
    texts: z.array(z.string()),
    queries: z.array(z.string()),
    cases: z.array(
      z.object({
        folders: z.array(z.string()),
        /** Settings that the folder leaves open. */
        options: z.object({ activation: z.enum(ACTIVATIONS).optional(), prune: pruneSchema.optional() }),
        vectors: z.array(byToken),
        queries: z.array(byToken).optional(),
        scores: z.array(z.array(z.number())).optional(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(join(MODELS, 'expected.json'), 'utf8')));

type Case = (typeof golden.cases)[number];

/** Each folder with each of its cases. */
const cases = golden.cases.flatMap((each) => each.folders.map((name) => ({ ...each, name })));

function load({ name, options, queries }: Case & { readonly name: string }): Promise<Model> {
  return loadModel(join(MODELS, name), queries === undefined ? { ...options, idf: 'none' } : options);
}

/** The vector as token → weight. */
function tokens({ terms, weights }: SparseVector, model: Model): Record<string, number> {
  const { vocabulary } = model.tokenizer;
  return Object.fromEntries(Array.from(terms, (term, i) => [vocabulary.tokens[term], weights[i]]));
}

/** Same active terms, weights within `bound`. */
function expectSame(
  found: Readonly<Record<string, number>>,
  expected: Readonly<Record<string, number>>,
  bound: number,
) {
  expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
  for (const [token, weight] of Object.entries(expected)) {
    expect(Math.abs(found[token] - weight), token).toBeLessThan(bound);
  }
}

function dot(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): number {
  return Object.entries(a).reduce((sum, [token, weight]) => sum + weight * (b[token] ?? 0), 0);
}

describe('documents', () => {
  it.each(cases.map((each) => [each.name, each.options, each] as const))(
    '%s %j: same active terms as the library that saved it, weights within 1e-5',
    async (_, __, each) => {
      const model = await load(each);
      const encoded = await encodeAll(model, golden.texts);
      await model.close();
      each.vectors.forEach((expected, i) => {
        expectSame(tokens(encoded[i].vector, model), expected, 1e-5);
      });
    },
  );
});

describe('queries by a table', () => {
  const tables = cases.flatMap(({ queries, scores, ...each }) =>
    queries && scores ? [{ ...each, queries, scores }] : [],
  );

  it('are in the golden files', () => {
    expect(tables.map(({ name }) => name)).toEqual(['opensearch', 'st-router', 'st-router-mlm']);
  });

  it.each(tables.map((each) => [each.name, each] as const))(
    '%s: query weights within 1e-5, scores within 1e-4',
    async (_, each) => {
      const model = await load(each);
      const documents = (await encodeAll(model, golden.texts)).map(({ vector }) => tokens(vector, model));
      await model.close();
      golden.queries.forEach((text, q) => {
        const query = tokens(model.encodeQuery(text).vector, model);
        expectSame(query, each.queries[q], 1e-5);
        documents.forEach((document, d) => {
          expect(Math.abs(dot(query, document) - each.scores[q][d])).toBeLessThan(1e-4);
        });
      });
    },
  );
});

describe('the golden files', () => {
  it('have texts that are cut, empty and outside of the vocabulary, and vectors of many lengths', async () => {
    const model = await loadModel(join(MODELS, 'bert'), { idf: 'none' });
    const encoded = await encodeAll(model, golden.texts);
    await model.close();
    expect(encoded.filter(({ truncated }) => truncated)).toHaveLength(1);
    expect(golden.texts).toContain('');
    const lengths = golden.cases[0].vectors.map((vector) => Object.keys(vector).length);
    const size = model.tokenizer.vocabulary.size;
    expect(new Set(lengths).size).toBeGreaterThan(5);
    for (const length of lengths) expect(length / size).toBeLessThan(0.6);
  });
});

describe('imported', () => {
  let scratch: string;
  beforeAll(() => {
    scratch = mkdtempSync(join(tmpdir(), 'lzero-import-'));
  });
  afterAll(() => rmSync(scratch, { recursive: true }));

  const once = cases.filter(({ name }, i) => cases.findIndex((other) => other.name === name) === i);
  it.each(once.map((each) => [each.name, each] as const))(
    '%s becomes a model folder with the same bits',
    async (name, each) => {
      const output = join(scratch, name);
      const idf = each.queries === undefined ? ({ idf: 'none' } as const) : {};
      await importModel({ source: join(MODELS, name), output, ...each.options, ...idf });
      const [before, after] = [await load(each), await loadModel(output)];
      expect(await encodeAll(after, golden.texts)).toEqual(await encodeAll(before, golden.texts));
      for (const text of golden.queries) expect(after.encodeQuery(text)).toEqual(before.encodeQuery(text));
      await before.close();
      await after.close();
    },
  );
});
