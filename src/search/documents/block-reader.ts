/** Blocks of several files, for whoever is told where they are: a thread that reads for the one that has the tables. */
import type { ByteSource } from '../types.ts';
import { type Block, type BlockCodec, type BlockRange, readBlock } from './blocks.ts';
import { Lru } from './lru.ts';

/** Reads lines of documents. */
export class BlockReader {
  readonly #codec: Pick<BlockCodec, 'decompress'>;
  readonly #blocks: Lru<string, Block>;

  /** @param cachedBlocks unpacked blocks that are kept, about 16 KiB each */
  constructor(codec: Pick<BlockCodec, 'decompress'>, cachedBlocks = 32) {
    this.#codec = codec;
    this.#blocks = new Lru(cachedBlocks);
  }

  /** The line of a document; `DocumentsReader.documentIn` makes a document of it. */
  line(source: ByteSource, range: BlockRange, docId: number): string {
    const key = `${source.label} ${range.offset} ${range.crc}`; // another file may be under the same name by now
    const { firstDoc, lines } = this.#blocks.get(key, () => readBlock(source, range, this.#codec));
    return lines[docId - firstDoc];
  }
}
