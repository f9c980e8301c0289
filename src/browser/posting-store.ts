/** Postings as queries need them: fetched block by block, kept while there is room, made a segment for the kernel. */
import {
  type ByteSource,
  bytesSource,
  DEFAULT_WINDOW_SIZE,
  isDense,
  type Postings,
  SegmentWriter,
  writtenBytes,
} from '../search/index.ts';
import { unpack } from './packed.ts';
import { type BlockTable, type Piece, readBlock, type SectionsByNumber } from './posting-blocks.ts';
import { type HostRequest, readPieces, type SiteHost } from './site-host.ts';

/** Postings that are kept for the next query: 16 MB of them. */
const MAX_KEPT = 4_000_000;

/** Postings by term. */
export type TermLists = ReadonlyMap<number, Postings>;

type Numbered = { readonly byNumber: SectionsByNumber };

/** The postings of a site. */
export class PostingStore {
  readonly #host: SiteHost;
  readonly #blocks: BlockTable;
  /** Unpacked blocks, the least recently used first. */
  readonly #kept = new Map<number, ReadonlyMap<number, Postings>>();
  #numKept = 0;

  constructor(host: SiteHost, blocks: BlockTable) {
    this.#host = host;
    this.#blocks = blocks;
  }

  /** The postings of some terms, by term; what is not here is fetched, while the table of pages may be on its way, too. */
  async load(terms: Uint32Array, pages: Promise<Numbered>, request: HostRequest): Promise<TermLists> {
    const blocks = Array.from(terms, (term) => this.#blocks.blockOf(term));
    const missing = [...new Set(blocks)].filter((block) => block !== undefined).filter((block) => !this.#touch(block));
    const pieces = missing.map((block) => this.#blocks.pieceOf(block));
    const unpacked = await readPieces(this.#host, pieces, {
      request,
      read: (bytes, piece) => blockOf(bytes, piece, pages),
    });
    missing.forEach((block, i) => {
      this.#keep(block, unpacked[i]);
    });
    const lists = new Map<number, Postings>();
    terms.forEach((term, i) => {
      const block = blocks[i];
      const postings = block === undefined ? undefined : this.#kept.get(block)?.get(term);
      if (postings) lists.set(term, postings);
    });
    this.#trim();
    return lists;
  }

  /** Makes a block the youngest; false where it is not here. */
  #touch(block: number): boolean {
    const known = this.#kept.get(block);
    if (!known) return false;
    this.#kept.delete(block);
    this.#kept.set(block, known);
    return true;
  }

  #keep(block: number, lists: ReadonlyMap<number, Postings>): void {
    if (this.#kept.has(block)) return; // another search was faster
    this.#kept.set(block, lists);
    this.#numKept += sizeOf(lists);
  }

  /** Drops the oldest blocks; who loaded them has their lists. */
  #trim(): void {
    for (const [block, lists] of this.#kept) {
      if (this.#numKept <= MAX_KEPT) return;
      this.#kept.delete(block);
      this.#numKept -= sizeOf(lists);
    }
  }
}

async function blockOf(bytes: Uint8Array, { file, offset }: Piece, pages: Promise<Numbered>) {
  const label = `${file}, byte ${offset},`;
  return readBlock(await unpack(bytes, label), (await pages).byNumber, label);
}

function sizeOf(lists: ReadonlyMap<number, Postings>): number {
  let size = 0;
  for (const { length } of lists.values()) size += length;
  return size;
}

/** A segment that has these terms and no others: all that the kernel needs of an index to answer one query. */
export function segmentOf(lists: TermLists, numDocs: number): ByteSource {
  const bytes = writtenBytes((sink) => {
    const writer = new SegmentWriter({ numDocs, windowSize: DEFAULT_WINDOW_SIZE }, sink);
    for (const wantsDense of [true, false])
      for (const [term, postings] of lists)
        if (isDense(postings.length, numDocs) === wantsDense) writer.add(term, postings);
    writer.finish();
  });
  return bytesSource(bytes, 'postings');
}
