/** Every document scored for every query: how a teacher ranks by itself, as a baseline of evaluations. */
import { InterruptedError } from '../core/index.ts';
import { compareHits, type Hit, type Query } from '../data/index.ts';
import { countOn } from './count-on.ts';
import type { DocumentPool } from './document-pool.ts';
import { ensembleScores } from './ensemble.ts';
import type { Teaching } from './score-lists.ts';
import type { ScoreAll, ScoreOptions } from './scorer.ts';

/** What a teacher finds for a query. */
export type TeacherAnswer = { readonly queryId: string; readonly hits: readonly Hit[] };

/** The k best documents for each query, in the order of the queries. */
export type RankAll = (
  queries: readonly Query[],
  options: Pick<ScoreOptions, 'signal'> & { readonly k: number },
) => AsyncGenerator<TeacherAnswer>;

/** Encodes all documents, for each teacher; what ranks them comes back. */
export async function rankAll(pool: DocumentPool, teaching: Teaching, options: ScoreOptions = {}): Promise<RankAll> {
  const counted = { ...options, onProgress: countOn(options.onProgress) };
  const ids = Array.from(pool, ({ id }) => id);
  const texts = ids.map((id) => pool.textOf(id));
  const overAll: ScoreAll[] = [];
  for (const teacher of teaching.teachers) overAll.push(await teacher.overAll(texts, counted));
  return async function* (queries, { k, signal }) {
    for (const { id, text } of queries) {
      if (signal?.aborted) throw new InterruptedError();
      const rows: number[][] = []; // [T, N]
      for (const score of overAll) rows.push(await score(text, { signal }));
      yield { queryId: id, hits: best(ensembleScores(rows, teaching.ensemble), ids, k) };
    }
  };
}

/** Only what can be among the k best is put in order: numbers sort faster than hits. */
function best(scores: readonly number[], ids: readonly string[], k: number): Hit[] {
  const sorted = Float32Array.from(scores).sort(); // as runs are ranked
  const least = sorted[Math.max(0, sorted.length - k)];
  return scores
    .flatMap((score, i) => (Math.fround(score) >= least ? [{ id: ids[i], score }] : []))
    .sort(compareHits)
    .slice(0, k);
}
