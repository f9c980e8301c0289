/**
 * Whether examples without negatives of their own can be compared at all. In-batch negatives leave out what has the same
 * query or the same document (training-batch.ts), so two pairs are negatives of each other where both differ. Where no two
 * pairs are, all of them share one query or all share one document: the loss is 0 at every step, and nothing is learned.
 */
import { InputError } from '../../core/index.ts';
import type { Example } from '../../data/index.ts';

/** Meets all pairs of a run; keeps the first. */
export class PairVariety {
  #first: { readonly query: string; readonly document: string } | undefined;
  #sharesQuery = true;
  #sharesDocument = true;

  /** An example that is used. */
  add(example: Example): void {
    if (example.kind !== 'labelled') return;
    const { query, positives } = example;
    for (const document of positives) {
      this.#first ??= { query, document };
      this.#sharesQuery &&= query === this.#first.query;
      this.#sharesDocument &&= document === this.#first.document;
    }
  }

  /** Throws where no pair has anything to be compared with. */
  require(): void {
    if (!this.#sharesQuery && !this.#sharesDocument) return;
    const shared = this.#sharesQuery ? 'query' : 'document';
    throw new InputError(`all examples have the same ${shared}, so in-batch negatives have nothing to compare`, {
      hint: 'add examples of other queries, or negatives: triples with docsPerQuery: 2',
      setting: ['data', 'train'],
    });
  }
}
