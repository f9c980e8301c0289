/**
 * Whether a server scores as we do: queries on both sides, every score and rank compared with what the server's storage
 * explains.
 *
 *     s   our score, Σ q·w in floats              p   prediction, Σ q·stored(w)              t   the server's
 *
 *     s·(1 − 2⁻⁸) < t ≤ s           9 significant bits, cut (stored-weight.ts)
 *     |t − p| ≤ 10⁻⁵·p              sums of float32 in another order
 *     s(d) > s_k·(1 − 2⁻⁸)          for every d of the server's best k, where s_k is our k-th score
 *
 * The last line is all that cut weights can do to ranks: whoever is among the k best there is within 2⁻⁸ of them here.
 */
import { dot, type SparseVector } from '../core/index.ts';
import type { EngineQuery } from '../engines/index.ts';
import type { OpenSearchIndex } from './opensearch-index.ts';
import { STORED_ERROR, storedWeight } from './stored-weight.ts';

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
   * weights do. Scores must fit nevertheless, but where the server scores by 8 bits or joins BM25.
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
  /** (s − t)/s: mean, largest, and what it must stay below. */
  readonly error: { readonly mean: number; readonly max: number; readonly bound: number };
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

type Scored = { readonly id: string; readonly score: number };

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
      best.push({ id, score });
      best.sort((a, b) => b.score - a.score);
      best.length = Math.min(best.length, k);
    }
  }
  for (const query of watched) if (query.server.has(id)) query.met.set(id, vector);
}

/** How the two sides answer one query. */
type Comparison = {
  readonly query: Watched;
  /** (s − t)/s of each hit of the server that our side has. */
  readonly errors: readonly number[];
  /** Largest |t − p|/p. */
  readonly predictionError: number;
  readonly overlap: number;
  /** Hits of either side that cut weights do not explain. */
  readonly suspects: readonly Scored[];
  /** A hit that cut weights moved among the best. */
  readonly moved: Scored | undefined;
};

function compare(query: Watched, k: number): Comparison {
  const least = query.best.length < k ? 0 : query.best[query.best.length - 1].score;
  const serverLeast = Math.min(...query.server.values());
  const ours = new Set(query.best.map(({ id }) => id));
  const errors: number[] = [];
  const suspects: Scored[] = [];
  let predictionError = 0;
  let moved: Scored | undefined;
  for (const [id, score] of query.server) {
    const vector = query.met.get(id);
    const s = vector ? dot(query.vector, vector) : 0;
    const p = vector ? dot(query.vector, stored(vector)) : 0;
    if (s > 0) errors.push((s - score) / s);
    if (p > 0) predictionError = Math.max(predictionError, Math.abs(score - p) / p);
    const isPredicted = p > 0 && Math.abs(score - p) <= PREDICTION_BOUND * p;
    if (!isPredicted || s <= least * (1 - STORED_ERROR)) suspects.push({ id, score });
    else if (!ours.has(id)) moved ??= { id, score };
  }
  for (const { id, score } of query.best) {
    const isDue = query.server.size < k || score * (1 - STORED_ERROR) > serverLeast;
    if (isDue && !query.server.has(id)) suspects.push({ id, score });
  }
  const numShared = [...ours].filter((id) => query.server.has(id)).length;
  return { query, errors, predictionError, overlap: ours.size === 0 ? 1 : numShared / ours.size, suspects, moved };
}

async function judge(
  index: OpenSearchIndex,
  watched: readonly Watched[],
  { k, minOverlap }: { readonly k: number; readonly minOverlap: number },
): Promise<ParityReport> {
  const compared = watched.map((query) => compare(query, k));
  const errors = compared.flatMap((one) => one.errors);
  const max = errors.reduce((a, b) => Math.max(a, b), 0);
  const predictionMax = compared.reduce((a, { predictionError }) => Math.max(a, predictionError), 0);
  const overlap = compared.reduce((sum, one) => sum + one.overlap, 0) / Math.max(1, compared.length);
  const numUnexplained = compared.reduce((sum, { suspects }) => sum + suspects.length, 0);
  const scoresFit = max < STORED_ERROR + PREDICTION_BOUND && predictionMax <= PREDICTION_BOUND;
  const ranksFit = index.isExact ? numUnexplained === 0 : overlap >= minOverlap;
  return {
    numQueries: watched.length,
    k,
    numScores: errors.length,
    error: { mean: errors.reduce((a, b) => a + b, 0) / Math.max(1, errors.length), max, bound: STORED_ERROR },
    prediction: { max: predictionMax, bound: PREDICTION_BOUND },
    overlap,
    numUnexplained,
    firstDifference: await firstDifference(index, compared),
    isWithinBounds: errors.length > 0 && ranksFit && (scoresFit || !(await index.hasWholeScores())),
  };
}

async function firstDifference(
  index: OpenSearchIndex,
  compared: readonly Comparison[],
): Promise<ParityDifference | undefined> {
  const beyond = compared.find(({ suspects }) => suspects.length > 0);
  if (beyond) return await differenceOf(index, { query: beyond.query, id: beyond.suspects[0].id }, true);
  const within = compared.find(({ moved }) => moved !== undefined);
  return within?.moved && (await differenceOf(index, { query: within.query, id: within.moved.id }, false));
}

function stored({ terms, weights }: SparseVector): SparseVector {
  return { terms, weights: weights.map(storedWeight) };
}

/** Looks at the document on both sides, and says what makes the difference. */
async function differenceOf(
  index: OpenSearchIndex,
  { query, id }: { readonly query: Watched; readonly id: string },
  isBeyond: boolean,
): Promise<ParityDifference> {
  const there = (await index.scoresOf(query.query, [id])).get(id);
  const own = query.met.get(id);
  const ours = query.best.find((hit) => hit.id === id)?.score ?? (own && dot(query.vector, own));
  return {
    queryId: query.id,
    id,
    ourScore: ours,
    serverScore: there?.score,
    cause: causeOf({ index, own, ours, there, isBeyond }),
  };
}

type Sides = {
  readonly index: OpenSearchIndex;
  readonly own: SparseVector | undefined;
  readonly ours: number | undefined;
  readonly there: { readonly score: number; readonly vector: SparseVector | undefined } | undefined;
  readonly isBeyond: boolean;
};

function causeOf({ index, own, ours, there, isBeyond }: Sides): string {
  if (!there && index.isExact) return 'the server has no such document, or none of its terms is of the query';
  if (!there) return 'the server has no such document, none of its terms is of the query, or it is left out for speed';
  if (ours === undefined) return 'our side has no such document';
  if (own && there.vector) {
    const differing = weightDifference(index, own, there.vector);
    if (differing !== undefined) return `its vector differs: ${differing}`;
  }
  if (!index.isExact) return 'the search is not exact: tokens, clusters or bits of weights are left out for speed';
  if (!there.vector && isBeyond) return 'not to be told: the server does not keep vectors as they were sent';
  return isBeyond ? 'equal vectors are scored in another way' : 'weights are cut to 9 significant bits: within 2⁻⁸';
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
