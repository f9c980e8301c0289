/** Reads a whole documents file and checks every checksum, bound and line. */
import type { ByteSource } from '../types.ts';
import type { BlockCodec } from './blocks.ts';
import { parseLine } from './document.ts';
import { DocumentsReader } from './documents-reader.ts';
import type { DocumentsSummary } from './documents-writer.ts';

/** An IndexFormatError at the first fault; memory does not grow with the text. */
export function verifyDocuments(
  source: ByteSource,
  { codec }: { readonly codec: Pick<BlockCodec, 'decompress'> },
): DocumentsSummary {
  const reader = new DocumentsReader(source, { codec });
  reader.file.verify();
  reader.ids.verify();
  reader.pages.verify();
  for (const column of reader.columns()) column.verify();
  verifyBlocks(reader, codec);
  return { numDocs: reader.numDocs };
}

function verifyBlocks({ file, blocks }: DocumentsReader, codec: Pick<BlockCodec, 'decompress'>): void {
  for (let index = 0; index < blocks.size; index++) {
    const { firstDoc, lines } = blocks.read(blocks.range(index), codec);
    lines.forEach((line, i) => {
      parseLine(line, (problem) => file.error('blocks', `document ${firstDoc + i}: ${problem}`));
    });
  }
}
