/** The queries of a collection that have answers: what is mined for, and what a model learns from as clicks. */
import { InputError } from '../core/index.ts';
import { openCollection, type Qrels } from '../data/index.ts';
import type { DocumentPool, MiningQuery } from '../teach/index.ts';
import type { CliContext } from './context.ts';

/** The split that is learned from where none is named. */
export const LEARNED_SPLIT = 'train';

/** Where the queries are. */
export type JudgedSource = {
  /** A collection in BEIR layout. */
  readonly input: string;
  readonly pool: DocumentPool;
  readonly split?: string | undefined;
  /** What else could be done where there are none. */
  readonly otherwise: string;
};

/** Queries judged above 0 for a document that is there, with those documents, the highest judged first. */
export async function judgedQueries(
  { signal, logger }: Pick<CliContext, 'signal' | 'logger'>,
  { input, pool, split = LEARNED_SPLIT, otherwise }: JudgedSource,
): Promise<MiningQuery[]> {
  const { queries, qrels } = await openCollection(input, { split, signal, logger });
  const judged = queries.flatMap(({ id, text }) => {
    const answers = [...(qrels.get(id) ?? [])]
      .filter(([document, grade]) => grade > 0 && pool.has(document))
      .sort((a, b) => b[1] - a[1]);
    return answers.length > 0 ? [{ id, text, positives: answers.map(([document]) => document) }] : [];
  });
  if (judged.length > 0) return judged;
  throw new InputError(`${input} has no query of split ${split} with an answer among its documents`, {
    hint: `${strangeIds({ split, qrels, pool })}${otherwise}`,
  });
}

/** What tells that judgements name other documents: an id of each; empty where nothing is judged to be an answer. */
function strangeIds({ split, qrels, pool }: { split: string; qrels: Qrels; pool: DocumentPool }): string {
  const answers = [...qrels.values()].flatMap((judged) => [...judged].filter(([, grade]) => grade > 0));
  if (answers.length === 0 || pool.size === 0) return '';
  const [judged, known] = [answers[0][0], pool.idAt(0)].map((id) => JSON.stringify(id));
  return `qrels/${split}.tsv judges by the ids of queries.jsonl and corpus.jsonl; it names ${judged}, where documents are called ${known}, say: mend the ids, `;
}
