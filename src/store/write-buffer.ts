/** Documents that wait to become a segment, in the order of adding; an id is there once. Knows nothing of files. */
import type { PageHolder } from './page-parts.ts';
import type { NewDocument } from './segment-parts.ts';

/** Bytes that objects and pointers of one buffered document take besides its content, about. */
const OVERHEAD_BYTES = 500;

/** Collects documents. */
export class WriteBuffer implements PageHolder {
  /** Insertion order is document order: a document that is replaced moves to the end, as in a segment. */
  readonly #documents = new Map<string, { readonly document: NewDocument; readonly sizeBytes: number }>();
  /** Ids of the documents that are parts, by page. */
  readonly #parts = new Map<string, Set<string>>();
  #sizeBytes = 0;

  /** Bytes held, about. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Documents held. */
  get numDocs(): number {
    return this.#documents.size;
  }

  /** Whether a document is there. */
  has(id: string): boolean {
    return this.#documents.has(id);
  }

  pageOf(id: string): string | undefined {
    const held = this.#documents.get(id);
    return held && (held.document.document.page ?? id);
  }

  partsOf(page: string): string[] {
    const parts = [...(this.#parts.get(page) ?? [])];
    return this.pageOf(page) === page ? [...parts, page] : parts;
  }

  /** Appends a document whose id is not there. */
  add(document: NewDocument, payloadBytes: number): void {
    const sizeBytes = payloadBytes + storedBytes(document) + OVERHEAD_BYTES;
    const { id, page } = document.document;
    this.#documents.set(id, { document, sizeBytes });
    this.#sizeBytes += sizeBytes;
    if (page === undefined) return;
    const parts = this.#parts.get(page) ?? new Set();
    this.#parts.set(page, parts.add(id));
  }

  /** Removes a document; false if it is not there. */
  delete(id: string): boolean {
    const held = this.#documents.get(id);
    if (!held) return false;
    const { page } = held.document.document;
    if (page !== undefined) this.#parts.get(page)?.delete(id);
    this.#sizeBytes -= held.sizeBytes;
    return this.#documents.delete(id);
  }

  /** All documents, in order. */
  documents(): NewDocument[] {
    return Array.from(this.#documents.values(), ({ document }) => document);
  }

  /** Forgets all. */
  clear(): void {
    this.#documents.clear();
    this.#parts.clear();
    this.#sizeBytes = 0;
  }
}

function storedBytes({ document, vector }: NewDocument): number {
  const { id, title = '', text = '', url = '', fields } = document;
  const fieldsBytes = fields ? JSON.stringify(fields).length : 0;
  return id.length + title.length + text.length + url.length + fieldsBytes + 8 * (vector?.terms.length ?? 0);
}
