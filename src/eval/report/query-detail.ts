/** One query looked at closely: what each system found for it, whether that was right, and why it scored so. */
import { type Collection, type Hit, type Query, type Run, rankHits } from '../../data/index.ts';
import type { Explanation, System } from '../system.ts';

/** A hit as the page shows it. */
export type DetailHit = {
  readonly id: string;
  readonly score: number;
  /** Its judgement; undefined where it has none. */
  readonly relevance: number | undefined;
  /** Largest products first; undefined where the system explains nothing. */
  readonly explanation: readonly Explanation[] | undefined;
};

/** A document as the page shows it. */
export type DetailDocument = { readonly title?: string | undefined; readonly text?: string | undefined };

/** A query, its relevant documents, and the best hits of each system. */
export type QueryDetail = {
  readonly id: string;
  readonly text: string;
  /** Positive judgements by document id, best first. */
  readonly relevant: readonly (readonly [documentId: string, relevance: number])[];
  /** By the name of the system. */
  readonly hits: Readonly<Record<string, readonly DetailHit[]>>;
  /** The documents named above, as far as they are known. */
  readonly documents: Readonly<Record<string, DetailDocument>>;
};

/** What the details are taken from. */
export type DetailSources = {
  readonly collection: Pick<Collection, 'queries' | 'qrels'>;
  readonly systems: readonly { readonly system: System; readonly run: Run }[];
  /** Title and text of a document, for people to read. */
  readonly documentOf?: ((id: string) => DetailDocument | undefined) | undefined;
  /** Drop the query's own document, as the evaluation did. */
  readonly dropIdenticalIds?: boolean | undefined;
};

/** How much to show. */
export type DetailLimits = {
  readonly numHits?: number | undefined;
  /** Queries from the first; the page holds them all. */
  readonly numQueries?: number | undefined;
  /** Lines of an explanation. */
  readonly numTerms?: number | undefined;
  /** Characters of a text. */
  readonly numCharacters?: number | undefined;
};

type Limits = Required<{ [K in keyof DetailLimits]: number }>;

const DEFAULTS: Limits = { numHits: 5, numQueries: 500, numTerms: 8, numCharacters: 400 };

/** Looks closely at the queries of a collection, one after the other. */
export async function* queryDetails(sources: DetailSources, limits: DetailLimits = {}): AsyncGenerator<QueryDetail> {
  const { collection } = sources;
  const all: Limits = {
    numHits: limits.numHits ?? DEFAULTS.numHits,
    numQueries: limits.numQueries ?? DEFAULTS.numQueries,
    numTerms: limits.numTerms ?? DEFAULTS.numTerms,
    numCharacters: limits.numCharacters ?? DEFAULTS.numCharacters,
  };
  for (const query of collection.queries.slice(0, all.numQueries)) yield await detailOf(query, sources, all);
}

async function detailOf(query: Query, sources: DetailSources, limits: Limits): Promise<QueryDetail> {
  const judged = sources.collection.qrels.get(query.id) ?? new Map<string, number>();
  const relevant = [...judged].filter(([, relevance]) => relevance > 0).sort(([, a], [, b]) => b - a);
  const found: [system: string, hits: DetailHit[]][] = [];
  for (const { system, run } of sources.systems) {
    const all = run.get(query.id) ?? [];
    const kept = sources.dropIdenticalIds ? all.filter(({ id }) => id !== query.id) : all;
    const best = rankHits(kept).slice(0, limits.numHits);
    const explained = best.map((hit) => detailHit(hit, { query, system, judged, numTerms: limits.numTerms }));
    found.push([system.name, await Promise.all(explained)]);
  }
  const shown = relevant.slice(0, limits.numHits);
  const ids = [...shown.map(([id]) => id), ...found.flatMap(([, hits]) => hits.map(({ id }) => id))];
  // fromEntries, here and below: an id or a name may be "__proto__".
  return { ...query, relevant: shown, hits: Object.fromEntries(found), documents: documentsOf(ids, sources, limits) };
}

type HitSources = {
  readonly query: Query;
  readonly system: System;
  readonly judged: ReadonlyMap<string, number>;
  readonly numTerms: number;
};

async function detailHit({ id, score }: Hit, { query, system, judged, numTerms }: HitSources): Promise<DetailHit> {
  const explanation = await system.explain?.(query, id);
  return { id, score, relevance: judged.get(id), explanation: explanation?.slice(0, numTerms) };
}

function documentsOf(
  ids: readonly string[],
  { documentOf }: DetailSources,
  { numCharacters }: Limits,
): Record<string, DetailDocument> {
  const known = [...new Set(ids)].flatMap((id) => {
    const document = documentOf?.(id);
    return document ? [[id, { title: document.title, text: shortened(document.text, numCharacters) }] as const] : [];
  });
  return Object.fromEntries(known);
}

function shortened(text: string | undefined, numCharacters: number): string | undefined {
  const characters = Array.from(text?.slice(0, 2 * numCharacters) ?? '');
  return characters.length > numCharacters ? `${characters.slice(0, numCharacters).join('')}…` : text;
}
