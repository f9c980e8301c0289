/** The samples that are built from a line of training data: a query with G documents each. Knows neither files nor formats. */
import { assert } from '../../core/index.ts';
import { BadLine, type Example, type LabelledDocuments } from '../../data/index.ts';

/** What a batch takes: a query and G documents, or a document by itself. */
export type Sample = {
  /** Undefined for a document that nobody asked for. */
  readonly query?: string | undefined;
  readonly docs: readonly string[];
  readonly scores?: readonly number[] | undefined;
  readonly moreQueries?: readonly string[] | undefined;
};

/** What a run wants of each example. */
export type SampleShape = {
  /** G */
  readonly docsPerQuery: number;
  /** Whether a loss needs the teacher's scores. */
  readonly wantsScores: boolean;
};

/**
 * How many samples an example gives; 0 if it has too few documents.
 *
 *     ranked      ⌊n/G⌋
 *     labelled    P·⌊N/(G−1)⌋ of P positives and N negatives; P where G = 1
 *     documents   n, each by itself
 *
 * The authors' code expands each example into all its samples as well (KnowledgeDistillDataset and PosNegsDataset in
 * zhichao-aws/opensearch-sparse-model-tuning-sample, scripts/dataset/dataset.py at f3254b2a; its sample_num is G for
 * ranked lists and G−1 for labelled ones). What does not fill a sample is left over, there as here.
 */
export function numSamples(example: Example, docsPerQuery: number): number {
  if (example.kind === 'documents') return example.docs.length;
  if (example.kind === 'ranked') return Math.floor(example.docs.length / docsPerQuery);
  return example.positives.length * samplesPerPositive(example, docsPerQuery);
}

/**
 * Sample i of an example.
 *
 *     ranked      docs[i], docs[i + step], docs[i + 2·step], …     step = ⌊n/G⌋: rank i with rank i+50 for n = 100, G = 2
 *     labelled    positive, then G−1 negatives: of each positive all groups of negatives in their order
 *     documents   docs[i]
 */
export function sampleAt(example: Example, docsPerQuery: number, i: number): Sample {
  assert(i >= 0 && i < numSamples(example, docsPerQuery), `sample ${i} of ${numSamples(example, docsPerQuery)}`);
  if (example.kind === 'documents') return { docs: [example.docs[i]] };
  if (example.kind === 'labelled') return labelledSample(example, docsPerQuery, i);
  const { query, docs, scores, moreQueries } = example;
  const step = Math.floor(docs.length / docsPerQuery);
  const ranks = Array.from({ length: docsPerQuery }, (_, g) => i + g * step);
  return {
    query,
    docs: ranks.map((rank) => docs[rank]),
    scores: scores && ranks.map((rank) => scores[rank]),
    moreQueries,
  };
}

function labelledSample(example: LabelledDocuments, docsPerQuery: number, i: number): Sample {
  const { query, positives, negatives, moreQueries } = example;
  const perPositive = samplesPerPositive(example, docsPerQuery);
  const positive = positives[Math.floor(i / perPositive)];
  const first = (i % perPositive) * (docsPerQuery - 1);
  return { query, docs: [positive, ...negatives.slice(first, first + docsPerQuery - 1)], moreQueries };
}

function samplesPerPositive({ negatives }: LabelledDocuments, docsPerQuery: number): number {
  return docsPerQuery === 1 ? 1 : Math.floor(negatives.length / (docsPerQuery - 1));
}

/** Whether the line brings scores of a teacher. */
export function hasScores(example: Example): boolean {
  return example.kind === 'ranked' && example.scores !== undefined;
}

/** What is wrong with an example for this run, if anything. */
export function misfitOf(example: Example, { docsPerQuery, wantsScores }: SampleShape): BadLine | undefined {
  if (wantsScores && !hasScores(example)) return new BadLine('missing-field', 'no "scores", which the loss needs');
  if (numSamples(example, docsPerQuery) > 0) return undefined;
  if (example.kind === 'documents') return new BadLine('missing-field', 'no documents');
  const [has, needed] =
    example.kind === 'ranked'
      ? [counted(example.docs.length, 'document'), docsPerQuery]
      : [counted(example.negatives.length, 'negative'), docsPerQuery - 1];
  return new BadLine('missing-field', `${has}, but docsPerQuery: ${docsPerQuery} needs ${needed}`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
