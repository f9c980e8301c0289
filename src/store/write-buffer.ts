/** Documents that wait to become a segment, in the order of adding; an id is there once. Knows nothing of files. */
import type { NewDocument } from './segment-parts.ts';

/** Bytes that objects and pointers of one buffered document take besides its content, about. */
const OVERHEAD_BYTES = 500;

/** Collects documents. */
export class WriteBuffer {
  /** Insertion order is document order: a document that is replaced moves to the end, as in a segment. */
  readonly #documents = new Map<string, { readonly document: NewDocument; readonly sizeBytes: number }>();
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

  /** Appends a document whose id is not there. */
  add(document: NewDocument, payloadBytes: number): void {
    const sizeBytes = payloadBytes + storedBytes(document) + OVERHEAD_BYTES;
    this.#documents.set(document.document.id, { document, sizeBytes });
    this.#sizeBytes += sizeBytes;
  }

  /** Removes a document; false if it is not there. */
  delete(id: string): boolean {
    this.#sizeBytes -= this.#documents.get(id)?.sizeBytes ?? 0;
    return this.#documents.delete(id);
  }

  /** All documents, in order. */
  documents(): NewDocument[] {
    return Array.from(this.#documents.values(), ({ document }) => document);
  }

  /** Forgets all. */
  clear(): void {
    this.#documents.clear();
    this.#sizeBytes = 0;
  }
}

function storedBytes({ document, vector }: NewDocument): number {
  const { id, title = '', text = '', url = '', fields } = document;
  const fieldsBytes = fields ? JSON.stringify(fields).length : 0;
  return id.length + title.length + text.length + url.length + fieldsBytes + 8 * (vector?.terms.length ?? 0);
}
