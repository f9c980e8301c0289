/** What is known of a public test collection before it is fetched. */
import type { Checksum } from '../../download/index.ts';

/** A file on a server. */
export type SourceFile = {
  /** Folder of the server; a mirror stands in its place. */
  readonly base: string;
  /** Below the base, or below a mirror. */
  readonly path: string;
  /** Undefined where none is published: then that of the first download is kept and must hold from there on. */
  readonly checksum?: Checksum | undefined;
  readonly sizeBytes?: number | undefined;
};

/** A zip archive of a BEIR folder, or three Parquet files of rows. */
export type CollectionSource =
  | { readonly kind: 'zip'; readonly archive: SourceFile }
  | {
      readonly kind: 'parquet';
      readonly corpus: SourceFile;
      readonly queries: SourceFile;
      readonly qrels: SourceFile;
    };

/** A public test collection. */
export type RegisteredCollection = {
  /** Family and name, such as beir/scifact. */
  readonly name: string;
  /** What is searched, and for what. */
  readonly about: string;
  /** The split that is reported. */
  readonly split: string;
  readonly numDocs: number;
  /** Judged queries of that split. */
  readonly numQueries: number;
  /** What its papers report. */
  readonly metric: 'ndcg@10' | 'mrr@10';
  /** Queries are documents of the corpus under the same id: a query must not find itself. */
  readonly dropIdenticalIds: boolean;
  /** What its publishers say on use. Not advice. */
  readonly licence: string;
  readonly source: CollectionSource;
};
