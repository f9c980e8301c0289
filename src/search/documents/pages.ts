/**
 * Which page a document is a chunk of. A document without a page is its own.
 *
 *     pages.*        the distinct page ids (string-table.ts)
 *     page-of-doc    numDocs × u32: 0 where the document is its own page, else number of its page + 1;
 *                    empty where all documents are their own
 */
import { growingU32s } from './growing.ts';
import { asU32s, bytesOf, type SectionFile, type SectionWriter } from './section-file.ts';
import { StringTable, StringTableWriter } from './string-table.ts';

const SECTION = 'page-of-doc';

/** Collects the pages of documents in their order. */
export class PagesWriter {
  readonly #pageIds = new Map<string, number>();
  readonly #pageOfDoc = growingU32s();

  /** The page of the next document, undefined where it is its own. */
  add(page: string | undefined): void {
    this.#pageOfDoc.push(page === undefined ? 0 : this.#numberOf(page) + 1);
  }

  write(out: SectionWriter): void {
    const table = new StringTableWriter();
    for (const page of this.#pageIds.keys()) table.add(page);
    table.write(out, 'pages', 'the page');
    out.section(SECTION, table.size > 0 ? bytesOf(this.#pageOfDoc.finish()) : new Uint8Array(0));
  }

  #numberOf(page: string): number {
    const known = this.#pageIds.get(page);
    if (known !== undefined) return known;
    this.#pageIds.set(page, this.#pageIds.size);
    return this.#pageIds.size - 1;
  }
}

/** Chunks by page: those of page p are docIds[starts[p]] … docIds[starts[p + 1] − 1]. */
type PageChunks = { readonly starts: Uint32Array; readonly docIds: Uint32Array };

/** The pages of a segment. */
export class Pages {
  readonly #file: SectionFile;
  readonly #table: StringTable;
  readonly #numDocs: number;
  #chunks: PageChunks | undefined;

  constructor(file: SectionFile, numDocs: number) {
    this.#file = file;
    this.#table = new StringTable(file, 'pages');
    this.#numDocs = numDocs;
    file.requireLength(SECTION, this.#table.size > 0 ? 4 * numDocs : 0);
  }

  /** Number of distinct pages; 0 where all documents are their own. */
  get size(): number {
    return this.#table.size;
  }

  /** The page of a document, undefined where it is its own. */
  pageOf(docId: number): string | undefined {
    if (this.#table.size === 0) return undefined;
    const [page] = this.#file.u32s(SECTION, docId, 1);
    return page === 0 ? undefined : this.#table.stringAt(this.#require(page, docId));
  }

  /** The page of every document, in order. */
  *walk(): Generator<string | undefined> {
    if (this.#table.size === 0) for (let docId = 0; docId < this.#numDocs; docId++) yield undefined;
    let docId = 0;
    let last: { readonly page: number; readonly id: string } | undefined; // chunks of a page stand together
    for (const piece of this.#file.pieces(SECTION, 4)) {
      for (const page of asU32s(piece)) {
        if (page > 0 && last?.page !== page) last = { page, id: this.#table.stringAt(this.#require(page, docId)) };
        yield page === 0 ? undefined : last?.id;
        docId++;
      }
    }
  }

  /** The documents that are chunks of a page, ascending. The first question takes a walk over all documents. */
  chunksOf(page: string): number[] {
    const number = this.#table.size > 0 ? this.#table.numberOf(page) : undefined;
    if (number === undefined) return [];
    this.#chunks ??= this.#sortByPage();
    const { starts, docIds } = this.#chunks;
    return [...docIds.subarray(starts[number], starts[number + 1])];
  }

  /** Bytes held in memory. */
  get memoryBytes(): number {
    return (this.#chunks?.starts.byteLength ?? 0) + (this.#chunks?.docIds.byteLength ?? 0);
  }

  /** Reads everything and checks it. */
  verify(): void {
    this.#table.verify();
    for (const _ of this.#walkNumbers());
  }

  /** Counted, then put into place: the chunks of each page stand together, ascending. */
  #sortByPage(): PageChunks {
    const starts = new Uint32Array(this.#table.size + 1);
    for (const { page } of this.#walkNumbers()) starts[page + 1]++;
    for (let page = 0; page < this.#table.size; page++) starts[page + 1] += starts[page];
    const docIds = new Uint32Array(starts[this.#table.size]);
    const next = starts.slice();
    for (const { page, docId } of this.#walkNumbers()) docIds[next[page]++] = docId;
    return { starts, docIds };
  }

  /** The documents that are chunks, ascending, with the numbers of their pages. */
  *#walkNumbers(): Generator<{ readonly docId: number; readonly page: number }> {
    let docId = 0;
    for (const piece of this.#file.pieces(SECTION, 4)) {
      for (const page of asU32s(piece)) {
        if (page > 0) yield { docId, page: this.#require(page, docId) };
        docId++;
      }
    }
  }

  #require(page: number, docId: number): number {
    if (page <= this.#table.size) return page - 1;
    throw this.#file.error(SECTION, `document ${docId} has page ${page} of ${this.#table.size}`, 4 * docId);
  }
}
