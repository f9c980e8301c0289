/**
 * Several engines as one: each ranks on its own, the lists are joined. Documents are added to all of them.
 */
import { assert } from '../core/index.ts';
import type {
  Engine,
  EngineDocument,
  EngineQuery,
  EngineStats,
  Explanation,
  Hit,
  Product,
  SearchAnswer,
  SearchOptions,
} from './engine.ts';
import { type FusedId, type Fusion, fuse } from './fusion.ts';

/** How engines are joined. */
export type HybridOptions = {
  /** Reciprocal rank fusion where left out. */
  readonly fusion?: Fusion | undefined;
  /** Hits that each engine is asked for, if more are not wanted; 1,000 where left out. */
  readonly depth?: number | undefined;
};

/** Ranks below this add next to nothing in reciprocal rank fusion, and are cheap to get. */
const DEFAULT_DEPTH = 1000;
const DEFAULT_K = 10;

/** Joins engines. It owns them: closing it closes them. */
export function hybridEngine(engines: readonly Engine[], options: HybridOptions = {}): Engine {
  assert(engines.length > 0, 'a hybrid needs at least one engine');
  return new Hybrid(engines, options);
}

type Joined = { readonly answers: readonly SearchAnswer[]; readonly fused: readonly FusedId[] };

class Hybrid implements Engine {
  readonly #engines: readonly Engine[];
  readonly #fusion: Fusion;
  readonly #depth: number;

  constructor(engines: readonly Engine[], { fusion = { method: 'rrf' }, depth = DEFAULT_DEPTH }: HybridOptions) {
    this.#engines = engines;
    this.#fusion = fusion;
    this.#depth = depth;
  }

  get name(): string {
    return `${this.#fusion.method}:${this.#engines.map(({ name }) => name).join('+')}`;
  }

  /** The stream is held in memory, because each engine reads it. */
  async add(documents: Iterable<EngineDocument> | AsyncIterable<EngineDocument>): Promise<number> {
    const all: EngineDocument[] = [];
    for await (const document of documents) all.push(document);
    for (const engine of this.#engines) await engine.add(all);
    return all.length;
  }

  async delete(ids: Iterable<string>): Promise<number> {
    const list = [...ids];
    const counts: number[] = [];
    for (const engine of this.#engines) counts.push(await engine.delete(list));
    return Math.max(...counts);
  }

  async commit(): Promise<void> {
    for (const engine of this.#engines) await engine.commit();
  }

  async search(query: EngineQuery, options: SearchOptions = {}): Promise<SearchAnswer> {
    const { k = DEFAULT_K, explain = false } = options;
    const { answers, fused } = await this.#join(query, options);
    const known = new Map(answers.flatMap(({ hits }) => hits.map((hit) => [hit.id, hit] as const)).reverse());
    const hits = fused.slice(0, k).map(({ id, score, parts }, i): Hit => {
      const { explain: _, ...shown } = known.get(id) ?? { id };
      return { ...shown, rank: i + 1, id, score, ...(explain ? { explain: this.#products(parts) } : {}) };
    });
    return { terms: answers[0].terms, hits };
  }

  async explain(query: EngineQuery, id: string): Promise<Explanation | undefined> {
    const each = await Promise.all(this.#engines.map((engine) => engine.explain(query, id)));
    if (each.every((explanation) => explanation === undefined)) return undefined;
    const { fused } = await this.#join(query, { idsOnly: true });
    const at = fused.findIndex((hit) => hit.id === id);
    const [missing, ...others] = each.map((explanation) => explanation?.missing ?? []);
    return {
      id,
      score: fused[at]?.score ?? 0,
      rank: at < 0 ? undefined : at + 1,
      products: this.#products(fused[at]?.parts ?? []),
      missing: missing.filter(({ token }) => others.every((list) => list.some((term) => term.token === token))),
    };
  }

  async stats(): Promise<EngineStats> {
    const all = await Promise.all(this.#engines.map((engine) => engine.stats()));
    const sizeBytes = all.reduce((sum, stats) => sum + (stats.sizeBytes ?? 0), 0);
    return { numDocs: Math.max(...all.map(({ numDocs }) => numDocs)), sizeBytes };
  }

  async close(): Promise<void> {
    await Promise.all(this.#engines.map((engine) => engine.close()));
  }

  async #join(query: EngineQuery, options: SearchOptions): Promise<Joined> {
    const k = Math.max(options.k ?? DEFAULT_K, this.#depth);
    const wanted = { ...options, k: options.k !== undefined && !isRank(options.k) ? options.k : k, explain: false };
    const answers = await Promise.all(this.#engines.map((engine) => engine.search(query, wanted)));
    const lists = answers.map(({ hits }) => hits);
    return { answers, fused: fuse(lists, this.#fusion, Number.POSITIVE_INFINITY) };
  }

  /** What each engine adds to a score, in the place of terms. */
  #products(parts: readonly number[]): Product[] {
    const weights = this.#fusion.weights ?? this.#engines.map(() => 1);
    return parts
      .map((product, i) => ({
        token: this.#engines[i].name,
        queryWeight: weights[i],
        docWeight: product / (weights[i] || 1),
        product,
      }))
      .filter(({ product }) => product > 0)
      .sort((a, b) => b.product - a.product);
  }
}

function isRank(k: number): boolean {
  return Number.isInteger(k) && k >= 1;
}
