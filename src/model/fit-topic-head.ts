/**
 * Makes a topic head for an encoder: vectors of terms by what a dense encoder says of queries, thresholds by what this one
 * says of documents. Both must speak of the same space: the same encoder, or a smaller one that was trained to give its vectors.
 */
import { ConfigError } from '../core/index.ts';
import { encodeQuery, type QuerySide } from '../text/index.ts';
import { meanStates } from './about-terms.ts';
import { Checkpoint, TOPIC } from './checkpoint.ts';
import type { TokenIds } from './padded-batch.ts';
import { type Rows, unitRows } from './pooled-matrix.ts';
import { fitTermVectors, type TermVectorProblem } from './term-vectors.ts';
import { storedTerms, type TopicHead, topicHead } from './topic-head.ts';

/** Queries that a dense encoder has read. */
export type ReadQueries = Pick<TermVectorProblem, 'onPass'> & {
  readonly texts: readonly string[];
  /** Their vectors, beside them. */
  readonly vectors: Rows;
  /** Those of the terms of the vocabulary, each by itself. */
  readonly ofTerms: Rows;
};

/** Where the vectors of terms come from: fitted to queries, made elsewhere (c, [V, H]), or the folder of a model whose topic head has them. */
export type TermSource = ReadQueries | { readonly made: Rows } | { readonly sameAs: string };

/** What a head is made of. */
type FitParts = {
  readonly terms: TermSource;
  readonly querySide: QuerySide;
  /** Documents of the kind to be searched. */
  readonly documents: readonly TokenIds[];
  /** Terms that never become active. */
  readonly excluded: ReadonlySet<number>;
  readonly signal?: AbortSignal | undefined;
  /** Told how many documents are read. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** ρ of term-vectors.ts: of 30, 10, 3, 1, 0.3 and 0.1 the one from which on less changes nothing (docs/EXPERIMENTS.md). */
const PENALTY = 1;

/** Fits the head, or takes the vectors of terms and sets its thresholds anew. */
export async function fitTopicHead(
  checkpoint: Checkpoint,
  { terms: source, querySide, documents, excluded, ...watch }: FitParts,
): Promise<TopicHead> {
  const { hiddenSize } = checkpoint.config;
  const terms = await termsFrom(source, querySide, hiddenSize);
  if (terms.width !== hiddenSize) throw otherWidth('the term vectors have', terms.width, hiddenSize);
  const states = unitRows(await meanStates(checkpoint, documents, watch));
  return topicHead({ terms, documents: states, queryWeights: querySide.idf.values, excluded });
}

async function termsFrom(source: TermSource, querySide: QuerySide, hiddenSize: number): Promise<Rows> {
  if ('made' in source) return source.made;
  return 'sameAs' in source ? await termsOf(source.sameAs) : fittedTerms(source, querySide, hiddenSize);
}

function fittedTerms({ texts, ...read }: ReadQueries, querySide: QuerySide, hiddenSize: number): Rows {
  if (read.vectors.width !== hiddenSize)
    throw otherWidth('the vectors of the queries have', read.vectors.width, hiddenSize);
  return fitTermVectors({
    ...read,
    queries: texts.map((text) => encodeQuery(querySide, text).vector),
    penalty: PENALTY,
  });
}

async function termsOf(folder: string): Promise<Rows> {
  const checkpoint = await Checkpoint.open(folder);
  try {
    if (checkpoint.head !== 'topic') throw new ConfigError(`${folder} has no topic head to take term vectors from`);
    return storedTerms({ data: await checkpoint.read(TOPIC.terms), width: checkpoint.config.hiddenSize });
  } finally {
    await checkpoint.close();
  }
}

function otherWidth(what: string, width: number, hiddenSize: number): ConfigError {
  return new ConfigError(`${what} ${width} dimensions, the encoder's states ${hiddenSize}`, {
    hint: 'let the queries be read by the encoder itself, or by the one that it was trained to follow',
  });
}
