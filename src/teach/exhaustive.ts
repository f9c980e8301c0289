/** Every document scored for every query: how a teacher ranks by itself, as a baseline of evaluations. */
import { InterruptedError } from '../core/index.ts';
import { compareHits, type Hit, type Query } from '../data/index.ts';
import type { DocumentPool } from './document-pool.ts';
import { ensembleScores } from './ensemble.ts';
import type { Teaching } from './score-lists.ts';
import type { ScoreOptions } from './scorer.ts';

/** What a teacher finds for a query. */
export type TeacherAnswer = { readonly queryId: string; readonly hits: readonly Hit[] };

/** Queries that are scored together. */
const WINDOW = 64;

/** The k best documents for each query, in the order of the queries. */
export async function* rankAll(
  queries: readonly Query[],
  { pool, k, ...teaching }: Teaching & { readonly pool: DocumentPool; readonly k: number },
  options: ScoreOptions = {},
): AsyncGenerator<TeacherAnswer> {
  const ids = Array.from(pool, ({ id }) => id);
  const texts = ids.map((id) => pool.textOf(id));
  const overAll = [];
  for (const teacher of teaching.teachers) overAll.push(await teacher.overAll(texts, options));
  for (let begin = 0; begin < queries.length; begin += WINDOW) {
    if (options.signal?.aborted) throw new InterruptedError();
    const window = queries.slice(begin, begin + WINDOW);
    const rows = [];
    for (const score of overAll)
      rows.push(
        await score(
          window.map(({ text }) => text),
          { signal: options.signal },
        ),
      );
    for (const [i, { id }] of window.entries()) {
      const scores = ensembleScores(
        rows.map((row) => Array.from(row[i])),
        teaching.ensemble,
      );
      yield { queryId: id, hits: best(scores, ids, k) };
    }
  }
}

function best(scores: readonly number[], ids: readonly string[], k: number): Hit[] {
  return scores
    .map((score, i) => ({ id: ids[i], score }))
    .sort(compareHits)
    .slice(0, k);
}
