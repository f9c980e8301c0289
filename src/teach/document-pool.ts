/** All documents of a collection in memory: what is mined from, and where the texts of ids are. */
import { createHash } from 'node:crypto';
import { assert, InputError } from '../core/index.ts';
import {
  chunkPage,
  countingOf,
  type Document,
  documentText,
  isPageFolder,
  type ReadOptions,
  readDocuments,
  readPages,
} from '../data/index.ts';
import type { Tokenizer } from '../text/index.ts';

/** Tokens of a piece of a page: about a screenful. */
const CHUNK_TOKENS = 256;

/** Documents by id and by number. */
export class DocumentPool {
  readonly #documents: readonly Document[];
  readonly #numbers: ReadonlyMap<string, number>;

  /** Reads an input of documents; pages are cut at their headings, into pieces of some 256 tokens. */
  static async read(input: string, tokenizer: Tokenizer, options: ReadOptions = {}): Promise<DocumentPool> {
    const documents: Document[] = [];
    for await (const document of readPieces(input, tokenizer, options)) documents.push(document);
    if (documents.length > 0) return new DocumentPool(documents);
    throw new InputError(`${input} has no documents`, { hint: 'check the path' });
  }

  /** Documents with ids of their own. */
  constructor(documents: readonly Document[]) {
    this.#documents = documents;
    this.#numbers = new Map(documents.map(({ id }, number) => [id, number]));
  }

  /** Documents in it. */
  get size(): number {
    return this.#documents.length;
  }

  /** In the order of the input. */
  [Symbol.iterator](): Iterator<Document> {
    return this.#documents[Symbol.iterator]();
  }

  /** Whether there is a document of this id. */
  has(id: string): boolean {
    return this.#numbers.has(id);
  }

  /** The id of a document by its number, from 0. */
  idAt(number: number): string {
    return this.#documents[number].id;
  }

  /** What is encoded of a document. */
  textOf(id: string): string {
    const number = this.#numbers.get(id);
    assert(number !== undefined, `no document ${id}`);
    return documentText(this.#documents[number]);
  }

  /** SHA-256 over ids and texts: equal ones give equal indexes. */
  fingerprint(): string {
    const hash = createHash('sha256');
    for (const { id, title = '', text } of this.#documents) hash.update(`${JSON.stringify([id, title, text])}\n`);
    return hash.digest('hex');
  }
}

async function* readPieces(input: string, tokenizer: Tokenizer, options: ReadOptions): AsyncGenerator<Document> {
  if (!(await isPageFolder(input))) {
    yield* readDocuments(input, options);
    return;
  }
  const limits = { maxTokens: CHUNK_TOKENS, overlapTokens: 0, ...countingOf(tokenizer) };
  for await (const page of readPages(input, options))
    for (const { id, title, text } of chunkPage(page, limits)) yield { id, title, text }; // each by itself, not as a page
}
