/** The start file: all that a page needs before the first query. Unpacked: varint n │ n bytes of query side │ table of blocks. */
import { ByteReader, SiteError } from '../core/index.ts';
import { type DecodedQuerySide, decodeQuerySide } from '../text/index.ts';
import { type BlockTable, readBlockTable } from './posting-blocks.ts';

/** What the start file holds. */
export type SiteStart = { readonly side: DecodedQuerySide; readonly blocks: BlockTable };

/** Reads the start file. */
export function readStart(bytes: Uint8Array, label: string): SiteStart {
  const input = new ByteReader(bytes, label, (message, details) => new SiteError(message, details));
  const side = decodeQuerySide(input.bytes(input.count()), label);
  const blocks = readBlockTable(input);
  if (input.left > 0) throw input.error(`expected the end, ${input.left} bytes are left`);
  return { side, blocks };
}
