/** What a line of training data says. Knows neither files nor formats. */

/** What every line has. */
export type Asked = {
  readonly query: string;
  /** Other queries about the same documents, of which nobody says which they ask for: a teacher knows. */
  readonly moreQueries?: readonly string[] | undefined;
};

/** Documents of a query, best first. */
export type RankedList = Asked & {
  readonly kind: 'ranked';
  readonly docs: readonly string[];
  /** A teacher's, one for each document. */
  readonly scores?: readonly number[] | undefined;
};

/** Documents that answer a query, and documents that do not. */
export type LabelledDocuments = Asked & {
  readonly kind: 'labelled';
  readonly positives: readonly string[];
  readonly negatives: readonly string[];
};

/** What a line says. */
export type Example = RankedList | LabelledDocuments;

/** All documents of an example. */
export function documentsOf(example: Example): readonly string[] {
  return example.kind === 'ranked' ? example.docs : [...example.positives, ...example.negatives];
}
