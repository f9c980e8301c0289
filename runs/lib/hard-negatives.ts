/**
 * Triples with hard negatives for training: each judged pair of a split, with documents that BM25 ranks high for the query
 * and nobody has judged relevant.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentText, openCollection, readRun } from '../../src/data/index.ts';
import { lzero } from './lzero.ts';

/** How triples are chosen. */
export type TripleOptions = {
  readonly split: string;
  /** Negatives of a query, the best ranked ones. */
  readonly numNegatives: number;
  /** Positives of a query, the highest judged first. */
  readonly maxPositives: number;
};

/** Writes {"query", "positive", "negatives"} lines to `file`. Returns how many. */
export async function writeTriples(folder: string, file: string, options: TripleOptions): Promise<number> {
  const { split, numNegatives, maxPositives } = options;
  const { queries, qrels, documents } = await openCollection(folder, { split });
  const texts = new Map<string, string>();
  for await (const document of documents()) texts.set(document.id, documentText(document));
  const ranked = await bm25Run(folder, queries, numNegatives + 20);
  const lines = queries.flatMap(({ id, text }) => {
    const judged = qrels.get(id) ?? new Map<string, number>();
    const relevant = [...judged].filter(([doc, grade]) => grade > 0 && texts.has(doc)).sort((a, b) => b[1] - a[1]);
    const negatives = (ranked.get(id) ?? []).flatMap((hit) =>
      (judged.get(hit.id) ?? 0) > 0 ? [] : [texts.get(hit.id)],
    );
    if (negatives.length < numNegatives) return [];
    return relevant
      .slice(0, maxPositives)
      .map(([doc]) =>
        JSON.stringify({ query: text, positive: texts.get(doc), negatives: negatives.slice(0, numNegatives) }),
      );
  });
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return lines.length;
}

async function bm25Run(folder: string, queries: readonly { readonly id: string; readonly text?: string }[], k: number) {
  const scratch = mkdtempSync(join(tmpdir(), 'lzero-bm25-'));
  try {
    const asked = join(scratch, 'queries.jsonl');
    writeFileSync(asked, queries.map(({ id, text }) => `${JSON.stringify({ _id: id, text })}\n`).join(''));
    lzero('index', folder, '-o', join(scratch, 'index'), '--bm25', '--quiet');
    lzero(
      'search',
      join(scratch, 'index'),
      '--queries',
      asked,
      '-k',
      String(k),
      '-o',
      join(scratch, 'run.trec'),
      '--quiet',
    );
    return await readRun(join(scratch, 'run.trec'));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
