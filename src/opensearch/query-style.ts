/** How queries are put to a server: by which clauses, in how many steps, and joined with what. */
import { type JsonObject, UsageError } from '../core/index.ts';
import type { QueryTerm } from '../text/index.ts';
import type { FoundDocument } from './documents.ts';
import { withoutTerms } from './filter-query.ts';
import type { IndexDescription } from './index-body.ts';
import { normalisationPipeline, type TwoPhaseOptions, twoPhasePipeline } from './pipelines.ts';
import {
  type ApproximateParameters,
  bm25Query,
  filtered,
  hybridQuery,
  neuralSparseQuery,
  type QueryBody,
  rankFeatureQuery,
  type TermIds,
} from './queries.ts';
import { hasFeature, requireFeature, type ServerDescription } from './server-version.ts';

/** How queries are put. */
export type QueryStyle = {
  /**
   * `neural_sparse` needs the plugin; `rank_feature` (1.1) gives the same answers on servers without. Where left out, the first
   * if the server has it.
   */
  readonly kind?: 'neural_sparse' | 'rank_feature' | undefined;
  /** Heavy tokens find, all tokens rank: faster on large indexes, and not exact. */
  readonly twoPhase?: TwoPhaseOptions | boolean | undefined;
  /** How sparse_vector fields are searched. */
  readonly approximate?: ApproximateParameters | undefined;
  /** Joins BM25 over title and text; the share of the learned terms, above 0 and below 1. Such answers have no explanations. */
  readonly hybridShare?: number | undefined;
  /** How the scores of a hybrid are made comparable; min_max where left out. */
  readonly hybridTechnique?: 'min_max' | 'l2' | undefined;
};

/** A style that fits server and field. */
export type CheckedStyle = QueryStyle & { readonly kind: 'neural_sparse' | 'rank_feature' };

/** Refuses what this server, or this kind of field, cannot do. */
export function checkStyle(style: QueryStyle, { vector }: IndexDescription, server: ServerDescription): CheckedStyle {
  const canDo = hasFeature(server, 'neural_sparse');
  const kind = style.kind ?? (canDo || vector.type === 'sparse_vector' ? 'neural_sparse' : 'rank_feature');
  if (kind === 'neural_sparse') requireFeature(server, 'neural_sparse');
  if (kind === 'rank_feature') requireFeature(server, 'rank_feature');
  if (vector.type === 'sparse_vector') requireFeature(server, 'sparse_vector');
  if (style.twoPhase) requireFeature(server, 'two-phase');
  if (style.twoPhase && (vector.type === 'sparse_vector' || kind === 'rank_feature'))
    throw new UsageError('two-phase is for neural_sparse on rank_features', { hint: 'leave it out' });
  if (style.hybridShare !== undefined) {
    requireFeature(server, 'hybrid');
    if (!(style.hybridShare > 0 && style.hybridShare < 1))
      throw new UsageError(`the share of learned terms in a hybrid is above 0 and below 1, got ${style.hybridShare}`);
  }
  if (style.hybridTechnique !== undefined && style.hybridShare === undefined)
    throw new UsageError('a technique is for hybrids', { hint: 'name the share of learned terms too' });
  if (style.hybridShare !== undefined && style.twoPhase)
    throw new UsageError('two-phase and a hybrid with BM25 do not go together');
  return { ...style, kind };
}

/** Whether the server can sort and collapse: not in two steps, and not where BM25 is joined. */
export function isPlain({ twoPhase, hybridShare }: QueryStyle): boolean {
  return !twoPhase && hybridShare === undefined;
}

/** What is asked: terms, and the words where BM25 is joined. */
export type AskedTerms = { readonly terms: readonly QueryTerm[]; readonly text: string | undefined };

/** Where it is asked, and how much of it. */
export type AskedPlace = {
  readonly description: IndexDescription;
  readonly idOf: TermIds;
  /** Hits that are wanted. */
  readonly numWanted: number;
  readonly filter: JsonObject | undefined;
};

/** The body of a search, so far as it says what is looked for. */
export function styledSearch(asked: AskedTerms, style: CheckedStyle, place: AskedPlace): JsonObject {
  const { description, numWanted, filter } = place;
  if (description.vector.type === 'rank_features') return { query: filtered(styledQuery(asked, style, place), filter) };
  const inside = filter && withoutTerms(filter);
  const approximate = {
    ...style.approximate,
    k: Math.max(style.approximate?.k ?? 0, numWanted),
    ...(inside ? { filter: inside } : {}),
  };
  const query = styledQuery(asked, { ...style, approximate }, place);
  return { query, ...(filter ? { post_filter: filter } : {}) };
}

function styledQuery(
  { terms, text }: AskedTerms,
  { kind, approximate, hybridShare }: CheckedStyle,
  { description, idOf }: Pick<AskedPlace, 'description' | 'idOf'>,
): QueryBody {
  if (hybridShare !== undefined && text === undefined)
    throw new UsageError('a hybrid with BM25 needs the words of the query, not its vector');
  if (hybridShare !== undefined && text !== undefined && terms.length === 0) return bm25Query(text); // all that it has
  const learned =
    kind === 'rank_feature'
      ? rankFeatureQuery(terms, description)
      : neuralSparseQuery(terms, description, { idOf, approximate });
  if (hybridShare === undefined || text === undefined) return learned;
  return hybridQuery([learned, bm25Query(text)]);
}

/** The pipeline that is sent along. */
export function stylePipeline({ twoPhase, hybridShare, hybridTechnique: technique }: QueryStyle): JsonObject {
  return {
    ...(twoPhase ? twoPhasePipeline(twoPhase === true ? {} : twoPhase) : {}),
    ...(hybridShare === undefined ? {} : normalisationPipeline({ technique, weights: [hybridShare, 1 - hybridShare] })),
  };
}

/** What the server does not do for two-phase and hybrid queries: equal scores in order, pages once. */
export function bestParts(
  found: readonly FoundDocument[],
  { k, asPages }: { readonly k: number; readonly asPages: boolean },
): FoundDocument[] {
  const seen = new Set<unknown>();
  return [...found]
    .sort((a, b) => b.score - a.score || Number(a.source.order ?? 0) - Number(b.source.order ?? 0))
    .filter(({ serverId: own, source }) => {
      const group = asPages ? (source.page ?? own) : own;
      if (seen.has(group)) return false;
      seen.add(group);
      return true;
    })
    .slice(0, k);
}
