/** What a line of training data says. Knows neither files nor formats. */

/** Documents of a query, best first. */
export type RankedList = {
  readonly kind: 'ranked';
  readonly query: string;
  readonly docs: readonly string[];
  /** A teacher's, one for each document. */
  readonly scores?: readonly number[] | undefined;
};

/** Documents that answer a query, and documents that do not. */
export type LabelledDocuments = {
  readonly kind: 'labelled';
  readonly query: string;
  readonly positives: readonly string[];
  readonly negatives: readonly string[];
};

/** What a line says. */
export type Example = RankedList | LabelledDocuments;

/** All documents of an example. */
export function documentsOf(example: Example): readonly string[] {
  return example.kind === 'ranked' ? example.docs : [...example.positives, ...example.negatives];
}
