/** What a line of training data says. Knows neither files nor formats. */

/** What a line with a query has. */
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

/** Documents that nobody asked for. */
export type Documents = {
  readonly kind: 'documents';
  readonly docs: readonly string[];
};

/** What a line says. */
export type Example = RankedList | LabelledDocuments | Documents;

/** All documents of an example. */
export function documentsOf(example: Example): readonly string[] {
  return example.kind === 'labelled' ? [...example.positives, ...example.negatives] : example.docs;
}
