/**
 * What a teacher is: texts to vectors, and a score of two of them. Everything else (caches, ensembles, mining) is the same
 * for all. Vectors can be bytes, so that a cache may keep them.
 */
import { assert } from '../core/index.ts';
import type { EncodeOptions, Role } from '../model/index.ts';

/** Scores a document for a query by their vectors. Close it when done. */
export type Teacher<V> = {
  /** What people call it. */
  readonly name: string;
  /** sha256 of all that decides its vectors. */
  identity(): Promise<string>;
  /** How many texts it encodes at a time. */
  readonly lanes: number;
  /** The vector of a text, which depends on nothing else: what is encoded beside it may change its last bits. */
  encode(role: Role, text: string, options: EncodeOptions): Promise<V>;
  /** s(q, d) */
  score(query: V, document: V): number;
  toBytes(vector: V): Uint8Array;
  fromBytes(bytes: Uint8Array<ArrayBuffer>): V;
  close(): Promise<void>;
};

/** What a stream of one gives. */
export async function only<T>(stream: AsyncIterable<T>): Promise<T> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  assert(items.length === 1, `one text has ${items.length} vectors`);
  return items[0];
}
