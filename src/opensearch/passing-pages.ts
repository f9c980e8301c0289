/**
 * Pages that pass by whole, part after part: which of the documents that an index has are left over of them. Makes queries;
 * knows no server.
 *
 *     a page of n parts            all of its group but chunks 0 … n − 1, so also the document that it was before it was cut
 *     a document without parts     all parts of the page with its id
 */
import type { JsonObject } from '../core/index.ts';
import type { EngineDocument } from '../engines/index.ts';

/** Pages of one query: each is two clauses, and a query has 1,024. */
const PAGES_A_QUERY = 400;

/** Follows a stream in which the parts of a page follow each other. */
export class PassingPages {
  /** Whether the index has parts of pages at all: of others no document leaves any. */
  readonly #hasParts: boolean;
  #documents: string[] = [];
  /** How many parts each page has, for those that have passed. */
  #pages: [page: string, numParts: number][] = [];
  #last: { readonly page: string; numParts: number } | undefined;

  constructor({ hasParts }: { readonly hasParts: boolean }) {
    this.#hasParts = hasParts;
  }

  /** The next document. Parts without a number tell nothing of how many there are: theirs stay. */
  pass({ id, page, chunk }: EngineDocument): void {
    if (page !== this.#last?.page) this.#close();
    if (page === undefined) this.#documents.push(id);
    else if (chunk !== undefined) this.#last = { page, numParts: Math.max(chunk + 1, this.#last?.numParts ?? 0) };
  }

  /** Queries for what is left over of pages that have passed; of the last one, too, where the stream has ended. */
  leftovers({ hasEnded }: { readonly hasEnded: boolean }): JsonObject[] {
    if (hasEnded) this.#close();
    const [documents, pages] = [this.#hasParts ? this.#documents : [], this.#pages];
    [this.#documents, this.#pages] = [[], []];
    const queries: JsonObject[] = documents.length > 0 ? [partsOf(documents)] : [];
    for (let first = 0; first < pages.length; first += PAGES_A_QUERY)
      queries.push({ bool: { should: pages.slice(first, first + PAGES_A_QUERY).map(beyond) } });
    return queries;
  }

  #close(): void {
    if (this.#last) this.#pages.push([this.#last.page, this.#last.numParts]);
    this.#last = undefined;
  }
}

function partsOf(ids: readonly string[]): JsonObject {
  return { bool: { filter: [{ terms: { group: ids } }, { exists: { field: 'page' } }] } };
}

function beyond([page, numParts]: readonly [string, number]): JsonObject {
  return { bool: { filter: [{ term: { group: page } }], must_not: [{ range: { chunk: { lt: numParts } } }] } };
}
