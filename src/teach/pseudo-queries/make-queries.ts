/** All kinds of pseudo-queries of a collection, each text once. */
import { derivedSeed, Random } from '../../core/index.ts';
import type { Document } from '../../data/index.ts';
import type { QuerySide } from '../../text/index.ts';
import type { DocumentPool } from '../document-pool.ts';
import type { MiningQuery } from '../mine.ts';
import { definitionQueries } from './definitions.ts';
import { firstSentenceQueries } from './first-sentences.ts';
import { headingQueries } from './headings.ts';
import { keyPhraseQueries } from './key-phrases.ts';
import type { MakeQueries, PseudoQuery } from './pseudo-query.ts';
import { titleQueries } from './titles.ts';

/** Kinds of pseudo-queries. */
export const PSEUDO_KINDS = ['titles', 'headings', 'sentences', 'definitions', 'phrases'] as const;
/** A name among PSEUDO_KINDS. */
export type PseudoKind = (typeof PSEUDO_KINDS)[number];

/** Which queries are made. */
export type PseudoOptions = {
  readonly kinds: readonly PseudoKind[];
  /** Queries of one document at most, of different kinds where it has them. */
  readonly perDocument: number;
  readonly seed: number;
};

/** A query of a document, with the kind that it is of. */
export type MadeQuery = MiningQuery & { readonly kind: PseudoKind };

/**
 * Makes queries of documents. One that several documents give ("Examples", "Introduction") asks for none of them and is
 * left out. Documents are gone through twice, once to count: all their possible queries at once would not fit into memory.
 */
export function makeQueries(pool: DocumentPool, side: QuerySide, options: PseudoOptions): MadeQuery[] {
  const makers = makersOf(side);
  const queriesOf = (document: Document): PossibleQuery[] =>
    distinct(
      options.kinds.flatMap((kind) =>
        makers[kind](document).map((made, i) => ({ ...made, kind, id: `${document.id}#${kind}${i}` })),
      ),
    );
  const shared = sharedKeys(pool, queriesOf);
  return Array.from(pool).flatMap((document, number) => {
    const own = queriesOf(document).filter(({ query }) => !shared.has(keyOf(query)));
    const chosen = choose(own, options.perDocument, new Random(derivedSeed(options.seed, number)));
    return chosen.map(({ id, query, kind, text }) => ({
      id,
      text: query,
      kind,
      positives: [document.id],
      positiveTexts: [text()],
    }));
  });
}

/** Keys of the queries that several documents give. */
function sharedKeys(pool: DocumentPool, queriesOf: (document: Document) => readonly PossibleQuery[]): Set<string> {
  const [seen, shared] = [new Set<string>(), new Set<string>()];
  for (const document of pool)
    for (const { query } of queriesOf(document)) {
      const key = keyOf(query);
      if (seen.has(key)) shared.add(key);
      else seen.add(key);
    }
  return shared;
}

type PossibleQuery = PseudoQuery & { readonly id: string; readonly kind: PseudoKind };

/** Each text once: a title often stands as a heading, too. */
function distinct(queries: readonly PossibleQuery[]): PossibleQuery[] {
  return [...new Map(queries.map((made) => [keyOf(made.query), made] as const).reverse()).values()].reverse();
}

function makersOf(side: QuerySide): Readonly<Record<PseudoKind, MakeQueries>> {
  return {
    titles: titleQueries,
    headings: headingQueries,
    sentences: firstSentenceQueries,
    definitions: definitionQueries,
    phrases: keyPhraseQueries(side),
  };
}

/** Some of a document's queries: the first of each kind come before the second of any. */
function choose(queries: readonly PossibleQuery[], count: number, random: Random): PossibleQuery[] {
  const numOfKind = new Map<PseudoKind, number>();
  const turns = queries.map((query) => {
    const turn = numOfKind.get(query.kind) ?? 0;
    numOfKind.set(query.kind, turn + 1);
    return { query, turn, order: random.uint32() };
  });
  const order = turns.sort((a, b) => a.turn - b.turn || a.order - b.order);
  return order.slice(0, count).map(({ query }) => query);
}

function keyOf(text: string): string {
  return text.toLowerCase();
}
