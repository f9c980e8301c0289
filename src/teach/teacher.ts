/**
 * What a teacher is: texts to vectors, and a score of two of them. Everything else (caches, ensembles, mining) is the same
 * for all. Vectors can be bytes, so that a cache may keep them.
 */
import type { EncodeOptions, Role } from '../model/index.ts';

/** Scores a document for a query by their vectors. Close it when done. */
export type Teacher<V> = {
  /** What people call it. */
  readonly name: string;
  /** sha256 of all that decides its vectors. */
  identity(): Promise<string>;
  /** Vectors of texts, in their order. */
  encode(role: Role, texts: Iterable<string>, options: EncodeOptions): AsyncIterable<V>;
  /** s(q, d) */
  score(query: V, document: V): number;
  toBytes(vector: V): Uint8Array;
  fromBytes(bytes: Uint8Array<ArrayBuffer>): V;
  close(): Promise<void>;
};
