/** What a step learns from. */
import type { SparseVector } from '../../core/index.ts';
import type { Matrix } from '../../losses/index.ts';

/** Q queries with G documents each; or documents by themselves, and no queries. */
export type TrainingBatch = {
  readonly queries: readonly string[];
  /** Document (n,g) at n·G + g; the first of each query is its positive where there are no scores. */
  readonly documents: readonly string[];
  /** M other queries about documents of the batch; who knows what they ask for is a teacher. */
  readonly moreQueries?: readonly string[] | undefined;
  /** Teacher scores, [Q, G] */
  readonly teacher?: Matrix | undefined;
  /** Teacher scores of every document for every query, the M others behind the Q: [Q + M, B] */
  readonly batchTeacher?: Matrix | undefined;
  /** A sparse teacher's vectors of the documents. */
  readonly teacherVectors?: readonly SparseVector[] | undefined;
  /** A dense teacher's vectors of the documents, [B, H] */
  readonly teacherStates?: Matrix | undefined;
};

/**
 * For each query, those documents of other queries that answer it as well, as far as the batch knows: the text of its
 * positive once more, and the positives of the same query. A line gives several samples, and two may come together.
 */
export function otherAnswers({ queries, documents }: TrainingBatch, docsPerQuery: number): ReadonlySet<number>[] {
  return queries.map((query, n) => {
    const positive = documents[n * docsPerQuery];
    const isAnswer = (b: number): boolean =>
      documents[b] === positive || (b % docsPerQuery === 0 && queries[b / docsPerQuery] === query);
    const isOther = (b: number): boolean => Math.floor(b / docsPerQuery) !== n;
    return new Set(Array.from(documents.keys()).filter((b) => isOther(b) && isAnswer(b)));
  });
}
