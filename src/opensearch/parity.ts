/**
 * Whether a server scores as we do: queries on both sides, every score and rank compared with what the server's storage
 * explains.
 *
 *     s   our score, Σ q·w in floats          p   prediction, from the weights as they are stored          t   the server's
 *
 *     |t − p| ≤ 10⁻⁵·p              sums of float32 in another order
 *     s·(1 − 2⁻⁸) < t ≤ s           follows in rank_features: 9 significant bits, cut (stored-weight.ts)
 *     s(d) > s_k·(1 − 2⁻⁸)          for every d of the server's best k, where s_k is our k-th score
 *
 * The last line is all that cut weights can do to ranks: whoever is among the k best there is within 2⁻⁸ of them here. It is asked of
 * exact searches; of others the share of our best that they find. A segment of a sparse_vector field scores as rank_features do or, where it
 * has clusters, by bytes: there a score fits one of two predictions.
 */
import { dot, type SparseVector, UsageError } from '../core/index.ts';
import type { EngineQuery } from '../engines/index.ts';
import type { VectorField } from './index-body.ts';
import type { OpenSearchIndex } from './opensearch-index.ts';
import { byteWeight, STORED_ERROR, storedWeight } from './stored-weight.ts';

/** A query to compare: as the server is asked, and its vector. */
export type ParityQuery = { readonly id: string; readonly query: EngineQuery; readonly vector: SparseVector };

/** A document of our side. */
export type ParityDocument = { readonly id: string; readonly vector: SparseVector };

/** How to compare. */
export type ParityOptions = {
  /** How many hits of each query. */
  readonly k?: number | undefined;
  /**
   * Least mean overlap where search itself is not exact (two-phase, sparse_vector), so that ranks may differ by more than
   * weights do. Scores must fit nevertheless.
   */
  readonly minOverlap?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told how many of our documents have passed by. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** The first place where the two sides differ by more than they may, or at all. */
export type ParityDifference = {
  readonly queryId: string;
  readonly id: string;
  readonly ourScore: number | undefined;
  readonly serverScore: number | undefined;
  readonly cause: string;
};

/** What came out. */
export type ParityReport = {
  readonly numQueries: number;
  readonly k: number;
  /** Scores that were compared. */
  readonly numScores: number;
  /** |s − t|/s: mean, largest, and what follows from 9 significant bits; null of a sparse_vector field, whose bytes have no such bound. */
  readonly error: { readonly mean: number; readonly max: number; readonly bound: number | null };
  /** |t − p|/p. */
  readonly prediction: { readonly max: number; readonly bound: number };
  /** Mean share of our k best that are the server's too. */
  readonly overlap: number;
  /** Hits of the server that cut weights do not explain, and hits of ours that it lacks. */
  readonly numUnexplained: number;
  readonly firstDifference: ParityDifference | undefined;
  /** Never where no score was compared. */
  readonly isWithinBounds: boolean;
};

const DEFAULT_K = 10;
const PREDICTION_BOUND = 1e-5;
const DEFAULT_MIN_OVERLAP = 0.95;

type Scored = { readonly id: string; readonly score: number; readonly vector: SparseVector };

/** One query while documents pass by. */
type Watched = ParityQuery & {
  readonly server: ReadonlyMap<string, number>;
  /** Our best, best first. */
  readonly best: Scored[];
  /** Our documents that matter: what the server has found. */
  readonly met: Map<string, SparseVector>;
};

/** Compares. Our documents pass by once; memory holds the hits alone. */
export async function checkParity(
  index: OpenSearchIndex,
  sides: {
    readonly queries: readonly ParityQuery[];
    readonly documents: Iterable<ParityDocument> | AsyncIterable<ParityDocument>;
  },
  { k = DEFAULT_K, minOverlap = DEFAULT_MIN_OVERLAP, signal, onProgress }: ParityOptions = {},
): Promise<ParityReport> {
  if (index.isHybrid)
    throw new UsageError('the scores of a hybrid with BM25 are no sums of weights: there is nothing to compare', {
      hint: 'leave the hybrid out',
    });
  const watched: Watched[] = [];
  for (const query of sides.queries) {
    signal?.throwIfAborted();
    const { hits } = await index.search(query.query, { k, parts: true, idsOnly: true });
    watched.push({ ...query, server: new Map(hits.map(({ id, score }) => [id, score])), best: [], met: new Map() });
  }
  const byTerm = postingsOf(watched);
  let numDone = 0;
  for await (const document of sides.documents) {
    signal?.throwIfAborted();
    watch(document, { watched, byTerm, k });
    onProgress?.(++numDone);
  }
  return await judge(index, watched, { k, minOverlap });
}

/** Queries by the terms they have: most documents share none with most queries. */
function postingsOf(watched: readonly Watched[]): Map<number, number[]> {
  const byTerm = new Map<number, number[]>();
  for (const [i, { vector }] of watched.entries())
    for (const term of vector.terms) byTerm.set(term, [...(byTerm.get(term) ?? []), i]);
  return byTerm;
}

type Watching = {
  readonly watched: readonly Watched[];
  readonly byTerm: ReadonlyMap<number, readonly number[]>;
  readonly k: number;
};

function watch({ id, vector }: ParityDocument, { watched, byTerm, k }: Watching): void {
  const asked = new Set<number>();
  for (const term of vector.terms) for (const i of byTerm.get(term) ?? []) asked.add(i);
  for (const i of asked) {
    const { best } = watched[i];
    const score = dot(watched[i].vector, vector);
    if (best.length < k || score > best[best.length - 1].score) {
      best.push({ id, score, vector });
      best.sort((a, b) => b.score - a.score);
      best.length = Math.min(best.length, k);
    }
  }
  for (const query of watched) if (query.server.has(id)) query.met.set(id, vector);
}

/** Why a hit is looked at: its score is another, it is not found, it is found before others, or it moved as it may. */
type Kind = 'misscored' | 'missing' | 'risen' | 'moved';

/** How the two sides answer one query. */
type Comparison = Readonly<Record<Kind, readonly string[]>> & {
  readonly query: Watched;
  /** |s − t|/s of each hit of the server that our side has. */
  readonly errors: readonly number[];
  /** Largest |t − p|/p. */
  readonly predictionError: number;
  readonly overlap: number;
};

function compare(query: Watched, k: number, field: VectorField): Comparison {
  const least = query.best.length < k ? 0 : query.best[query.best.length - 1].score;
  const serverLeast = Math.min(...query.server.values());
  const ours = new Set(query.best.map(({ id }) => id));
  const found: Record<Kind, string[]> = { misscored: [], missing: [], risen: [], moved: [] };
  const errors: number[] = [];
  let predictionError = 0;
  for (const [id, t] of query.server) {
    const vector = query.met.get(id);
    const s = vector ? dot(query.vector, vector) : 0;
    const off = vector ? predictionErrorOf(t, query.vector, { vector, field }) : Number.POSITIVE_INFINITY;
    if (s > 0) errors.push(Math.abs(s - t) / s);
    if (s > 0) predictionError = Math.max(predictionError, off);
    if (off > PREDICTION_BOUND) found.misscored.push(id);
    else if (s <= least * (1 - STORED_ERROR)) found.risen.push(id);
    else if (!ours.has(id)) found.moved.push(id);
  }
  for (const { id, score } of query.best) {
    const isDue = query.server.size < k || score * (1 - STORED_ERROR) > serverLeast;
    if (isDue && !query.server.has(id)) found.missing.push(id);
  }
  const numShared = [...ours].filter((id) => query.server.has(id)).length;
  return { query, ...found, errors, predictionError, overlap: ours.size === 0 ? 1 : numShared / ours.size };
}

/** |t − p|/p, for the prediction that is nearer where there are two. */
function predictionErrorOf(
  t: number,
  query: SparseVector,
  { vector, field }: { readonly vector: SparseVector; readonly field: VectorField },
): number {
  const predictions = [dot(query, kept(vector, storedWeight))];
  if (field.type === 'sparse_vector') {
    const { queryCeiling, documentCeiling } = field;
    const bytes = kept(vector, (weight) => byteWeight(weight, documentCeiling));
    predictions.push(
      dot(
        kept(query, (weight) => byteWeight(weight, queryCeiling)),
        bytes,
      ),
    );
  }
  return Math.min(...predictions.map((p) => (p > 0 ? Math.abs(t - p) / p : Number.POSITIVE_INFINITY)));
}

function kept({ terms, weights }: SparseVector, keep: (weight: number) => number): SparseVector {
  return { terms, weights: weights.map(keep) };
}

async function judge(
  index: OpenSearchIndex,
  watched: readonly Watched[],
  { k, minOverlap }: { readonly k: number; readonly minOverlap: number },
): Promise<ParityReport> {
  const { vector: field } = index.description;
  const compared = watched.map((query) => compare(query, k, field));
  const errors = compared.flatMap((one) => one.errors);
  const overlap = compared.reduce((sum, one) => sum + one.overlap, 0) / Math.max(1, compared.length);
  const numOf = (kinds: readonly Kind[]): number =>
    compared.reduce((sum, one) => sum + kinds.reduce((of, kind) => of + one[kind].length, 0), 0);
  const numUnexplained = numOf(UNEXPLAINED);
  const ranksFit = index.isExact ? numUnexplained === 0 : overlap >= minOverlap;
  return {
    numQueries: watched.length,
    k,
    numScores: errors.length,
    error: {
      mean: errors.reduce((a, b) => a + b, 0) / Math.max(1, errors.length),
      max: errors.reduce((a, b) => Math.max(a, b), 0),
      bound: field.type === 'rank_features' ? STORED_ERROR : null,
    },
    prediction: {
      max: compared.reduce((a, { predictionError }) => Math.max(a, predictionError), 0),
      bound: PREDICTION_BOUND,
    },
    overlap,
    numUnexplained,
    firstDifference: await firstDifference(index, compared),
    isWithinBounds: errors.length > 0 && ranksFit && numOf(['misscored']) === 0,
  };
}

/** What cut weights do not explain, what caused it first: a hit rises because another is missing. */
const UNEXPLAINED = ['misscored', 'missing', 'risen'] as const satisfies readonly Kind[];

async function firstDifference(
  index: OpenSearchIndex,
  compared: readonly Comparison[],
): Promise<ParityDifference | undefined> {
  for (const kind of [...UNEXPLAINED, 'moved'] as const) {
    const one = compared.find((comparison) => comparison[kind].length > 0);
    if (one) return await differenceOf(index, { query: one.query, id: one[kind][0], kind });
  }
  return undefined;
}

type Found = { readonly query: Watched; readonly id: string; readonly kind: Kind };

/** Looks at the document on both sides, and says what makes the difference. */
async function differenceOf(index: OpenSearchIndex, { query, id, kind }: Found): Promise<ParityDifference> {
  const there = (await index.scoresOf(query.query, [id])).get(id);
  const own = query.met.get(id) ?? query.best.find((hit) => hit.id === id)?.vector;
  return {
    queryId: query.id,
    id,
    ourScore: own && dot(query.vector, own),
    serverScore: there?.score ?? query.server.get(id),
    cause: causeOf({ index, own, there, kind }),
  };
}

type Sides = {
  readonly index: OpenSearchIndex;
  readonly own: SparseVector | undefined;
  readonly there: { readonly score: number; readonly vector: SparseVector | undefined } | undefined;
  readonly kind: Kind;
};

function causeOf({ index, own, there, kind }: Sides): string {
  if (kind === 'missing' && !there) {
    const reasons = 'the server has no such document, none of its terms is of the query';
    return index.isExact ? reasons.replace(',', ', or') : `${reasons}, or it is left out for speed`;
  }
  if (!own) return 'our side has no such document';
  const differing = there?.vector && weightDifference(index, own, there.vector);
  if (differing !== undefined) return `its vector differs: ${differing}`;
  switch (kind) {
    case 'misscored':
      return there?.vector
        ? 'equal vectors are scored in another way'
        : 'not to be told: the server does not keep vectors as they were sent';
    case 'missing':
    case 'risen':
      if (!index.isExact) return 'the search is not exact: tokens or clusters are left out for speed';
      return kind === 'missing' ? 'the server has it, and does not find it' : 'others that are better are not found';
    case 'moved':
      return index.description.vector.type === 'rank_features'
        ? 'weights are cut to 9 significant bits: within 2⁻⁸'
        : 'weights have 8 or 9 bits';
    default:
      return kind satisfies never;
  }
}

function weightDifference(index: OpenSearchIndex, own: SparseVector, its: SparseVector): string | undefined {
  const weights = new Map(Array.from(its.terms, (term, i) => [term, its.weights[i]]));
  for (let i = 0; i < own.terms.length; i++) {
    const weight = weights.get(own.terms[i]);
    if (weight === undefined || Math.abs(weight - own.weights[i]) > 1e-6 * own.weights[i])
      return `${JSON.stringify(index.tokenOf(own.terms[i]))} weighs ${own.weights[i]} here and ${weight ?? 'nothing'} there`;
  }
  return its.terms.length > own.terms.length
    ? `the server has ${its.terms.length} terms, we have ${own.terms.length}`
    : undefined;
}
