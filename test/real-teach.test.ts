/**
 * Mining and teaching on SciFact equal a plain computation in Python (scripts/golden-teach.py): opt-in, it needs the
 * collection and real weights.
 */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mineCommand } from '../src/cli/mine.ts';
import { teachCommand } from '../src/cli/teach.ts';
import { runCommands } from './cli/fake-host.ts';
import { Scratch } from './cli/index-commands.ts';

const data = process.env.LZERO_SHARED_DATA;
const weights = process.env.LZERO_WEIGHTS;
const needs = data && weights ? '' : ' (skipped: LZERO_SHARED_DATA or LZERO_WEIGHTS is not set)';

const numbers = z.array(z.number());
const ids = z.array(z.string());
const golden = z
  .object({
    depth: z.number(),
    numNegatives: z.number(),
    relativeMargin: z.number(),
    length: z.number(),
    queries: z.array(
      z.object({
        query: z.string(),
        answers: ids,
        negatives: ids,
        cosines: numbers,
        products: numbers,
        ensemble: numbers,
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'golden/teach/scifact.json'), 'utf8')));

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => scratch.remove());

async function lzero(...argv: string[]): Promise<void> {
  const env = { LZERO_CACHE: scratch.path('cache') };
  const { exitCode, stderr } = await runCommands([mineCommand, teachCommand], argv, { env });
  expect(exitCode, stderr).toBe(0);
}

/** SciFact with the judgements of the golden queries only. */
function someQueries(): string {
  const folder = scratch.path('scifact');
  mkdirSync(join(folder, 'qrels'), { recursive: true });
  for (const name of ['corpus.jsonl', 'queries.jsonl'])
    symlinkSync(join(data ?? '', 'collections/beir/scifact', name), join(folder, name));
  const lines = golden.queries.flatMap(({ query, answers }) => answers.map((answer) => `${query}\t${answer}\t1`));
  scratch.write('scifact/qrels/train.tsv', `query-id\tcorpus-id\tscore\n${lines.join('\n')}\n`);
  return folder;
}

const lineSchema = z.object({
  id: z.string(),
  negatives: ids.optional(),
  docs: ids.optional(),
  scores: numbers.optional(),
});

function linesOf(name: string): Map<string, z.infer<typeof lineSchema>> {
  const lines = readFileSync(scratch.path(name), 'utf8').trimEnd().split('\n');
  return new Map(lines.map((line) => lineSchema.parse(JSON.parse(line))).map((line) => [line.id, line]));
}

/** Documents by descending score. */
function ranking(docs: readonly string[], scores: readonly number[]): string[] {
  return docs
    .map((id, i) => ({ id, score: scores[i] }))
    .sort((a, b) => b.score - a.score)
    .map(({ id }) => id);
}

describe('mined and taught as Python does', () => {
  it.skipIf(!data || !weights)(`same negatives, scores to 1e-4, same order${needs}`, { timeout: 900_000 }, async () => {
    const collection = someQueries();
    const dense = `dense:${join(weights ?? '', 'minilm-l6')},pooling=mean,max-length=${golden.length}`;
    const sparse = `siamese:${join(weights ?? '', 'splade-tiny')},max-length=${golden.length}`;
    const options = ['--depth', golden.depth, '--negatives', golden.numNegatives].map(String);
    const filter = ['--teacher', dense, '--relative-margin', String(golden.relativeMargin)];
    await lzero('mine', collection, '-o', scratch.path('mined'), '--ids', ...options, ...filter);
    const mined = linesOf('mined');
    for (const { query, negatives } of golden.queries)
      expect(mined.get(query)?.negatives?.slice(0, negatives.length), query).toEqual(negatives);

    const lists = golden.queries.map(({ query, answers, negatives }) => ({
      id: query,
      query,
      docs: [...answers, ...negatives],
    }));
    const file = scratch.writeLines('lists.jsonl', lists);
    const raw = ['--normalise', 'none', '--scale', '1', '--collection', collection];
    await lzero('teach', file, '-o', scratch.path('dense'), '--teacher', dense, ...raw);
    await lzero('teach', file, '-o', scratch.path('sparse'), '--teacher', sparse, ...raw);
    await lzero(
      'teach',
      file,
      '-o',
      scratch.path('both'),
      '--teacher',
      dense,
      '--teacher',
      sparse,
      '--collection',
      collection,
    );
    for (const [name, scoresOf] of [
      ['dense', (each: (typeof golden.queries)[number]) => each.cosines],
      ['sparse', (each: (typeof golden.queries)[number]) => each.products],
      ['both', (each: (typeof golden.queries)[number]) => each.ensemble],
    ] as const) {
      const found = linesOf(name);
      for (const each of golden.queries) {
        const { docs = [], scores = [] } = found.get(each.query) ?? {};
        const expected = scoresOf(each);
        expect(scores, each.query).toHaveLength(expected.length);
        for (const [i, score] of scores.entries())
          expect(Math.abs(score - expected[i]) / Math.max(1, Math.abs(expected[i])), each.query).toBeLessThan(1e-4);
        expect(ranking(docs, scores)).toEqual(ranking(docs, expected));
      }
    }
  });
});
