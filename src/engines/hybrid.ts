/**
 * Several engines as one: each ranks on its own, the lists are joined. Documents are added to all of them.
 */
import { assert } from '../core/index.ts';
import { checkK, DEFAULT_K, MAX_K } from '../search/index.ts';
import type {
  Engine,
  EngineDocument,
  EngineQuery,
  EngineStats,
  ExplainOptions,
  Explanation,
  Hit,
  Product,
  SearchAnswer,
  SearchOptions,
} from './engine.ts';
import { type FusedId, type Fusion, fuse, partProducts } from './fusion.ts';

/** How engines are joined. */
export type HybridOptions = {
  /** Reciprocal rank fusion where left out. */
  readonly fusion?: Fusion | undefined;
  /** Hits that each engine is asked for, if more are not wanted; 1,000 where left out. */
  readonly depth?: number | undefined;
};

/** Ranks below this add next to nothing in reciprocal rank fusion, and are cheap to get. */
const DEFAULT_DEPTH = 1000;

/**
 * Joins engines. It owns them: closing it closes them. They commit one after the other, so a commit that fails may leave
 * some with the change and others without; commit again, which the former do not mind.
 */
export function hybridEngine(engines: readonly Engine[], options: HybridOptions = {}): Engine {
  assert(engines.length > 0, 'a hybrid needs at least one engine');
  checkK(options.depth ?? DEFAULT_DEPTH, 'depth');
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

  async delete(ids: readonly string[]): Promise<number> {
    const counts: number[] = [];
    for (const engine of this.#engines) counts.push(await engine.delete(ids));
    return Math.max(...counts);
  }

  async commit(): Promise<void> {
    for (const engine of this.#engines) await engine.commit();
  }

  async search(query: EngineQuery, options: SearchOptions = {}): Promise<SearchAnswer> {
    const { k = DEFAULT_K, explain = false } = options;
    checkK(k);
    const { answers, fused } = await this.#join(query, { ...options, idsOnly: true });
    const best = fused.slice(0, k);
    const shown = await this.#shownHits(query, { options, answers, ids: best.map(({ id }) => id) });
    const hits = best.map(
      ({ id, score, parts }, i): Hit => ({
        ...shown.get(id),
        rank: i + 1,
        id,
        score,
        ...(explain ? { explain: this.#products(parts) } : {}),
      }),
    );
    return { terms: answers[0].terms, hits };
  }

  /** Its ranks are those that `search` has joined; each engine tells its own, too. */
  async explain(query: EngineQuery, id: string, options?: ExplainOptions): Promise<Explanation | undefined> {
    const each = await Promise.all(this.#engines.map((engine) => engine.explain(query, id, options)));
    if (each.every((explanation) => explanation === undefined)) return undefined;
    const isMatch = each.some((explanation) => (explanation?.products.length ?? 0) > 0);
    const { score = 0, rank, parts = [] } = (isMatch && (await this.#standing(query, id))) || {};
    const [missing, ...others] = each.map((explanation) => explanation?.missing ?? []);
    return {
      id,
      score,
      rank,
      products: this.#products(parts),
      missing: missing.filter(({ token }) => others.every((list) => list.some((term) => term.token === token))),
      engines: each.flatMap((explanation, i) => (explanation ? [accountOf(this.#engines[i], explanation)] : [])),
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

  /**
   * Where a document stands as `search` joins; where it is not among what the engines are asked for there, in lists as
   * long as they give; and where it is a part of a page, among parts.
   */
  async #standing(query: EngineQuery, id: string): Promise<(FusedId & { readonly rank: number }) | undefined> {
    for (const options of [{}, { k: MAX_K }, { k: MAX_K, parts: true }]) {
      const { fused } = await this.#join(query, { ...options, idsOnly: true });
      const at = fused.findIndex((hit) => hit.id === id);
      if (at >= 0) return { ...fused[at], rank: at + 1 };
    }
    return undefined;
  }

  async #join(query: EngineQuery, options: SearchOptions): Promise<Joined> {
    const wanted = { ...options, k: Math.max(options.k ?? DEFAULT_K, this.#depth), explain: false };
    const answers = await Promise.all(this.#engines.map((engine) => engine.search(query, wanted)));
    const lists = answers.map(({ hits }) => hits);
    return { answers, fused: fuse(lists, this.#fusion, Number.POSITIVE_INFINITY) };
  }

  /**
   * The hits of some ids with what they show, from the first engine that found each. Engines were asked for far more ids
   * than anybody sees, so what is stored is read in a second search, just deep enough.
   */
  async #shownHits(
    query: EngineQuery,
    { options, answers, ids }: { options: SearchOptions; answers: readonly SearchAnswer[]; ids: readonly string[] },
  ): Promise<ReadonlyMap<string, Hit>> {
    const missing = new Set(ids);
    const shown = new Map<string, Hit>();
    for (const [i, { hits }] of answers.entries()) {
      const k = 1 + hits.findLastIndex(({ id }) => missing.has(id));
      if (k === 0) continue;
      const found = options.idsOnly
        ? hits
        : (await this.#engines[i].search(query, { ...options, k, explain: false })).hits;
      for (const hit of found) if (missing.delete(hit.id)) shown.set(hit.id, hit);
    }
    return shown;
  }

  /** What each engine adds to a score, in the place of terms. */
  #products(parts: readonly number[]): Product[] {
    return partProducts(
      parts,
      this.#engines.map(({ name }) => name),
      this.#fusion,
    );
  }
}

function accountOf({ name }: Engine, { id, ...account }: Explanation) {
  return { name, ...account };
}
