/**
 * Logged steps as bytes: 100,000 of them are a few megabytes that a page takes as they are, in place of as many megabytes
 * of text to parse.
 *
 *     u32 length of the header | header, JSON, padded with spaces to a multiple of 8 after the u32 | one column after the other
 *
 * Numbers are little-endian float64.
 */
import { endianness } from 'node:os';
import { assert } from '../core/index.ts';
import type { Table } from './columns.ts';

/** What stands before the columns. */
export type RowsHeader = {
  readonly generation: number;
  /** The first row. */
  readonly from: number;
  readonly numRows: number;
  /** Names of the columns. */
  readonly names: readonly string[];
};

/** Bytes of a part of a table. */
export function encodeRows({ names, columns }: Table, place: Pick<RowsHeader, 'generation' | 'from'>): Uint8Array {
  assert(endianness() === 'LE', 'rows are little-endian');
  const numRows = columns[0]?.length ?? 0;
  const header: RowsHeader = { ...place, numRows, names };
  const text = Buffer.from(JSON.stringify(header));
  const headerBytes = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new Uint8Array(headerBytes + columns.length * numRows * 8).fill(0x20, 0, headerBytes);
  new DataView(bytes.buffer).setUint32(0, headerBytes - 4, true);
  bytes.set(text, 4);
  columns.forEach((column, i) => {
    new Float64Array(bytes.buffer, headerBytes + i * numRows * 8, numRows).set(column);
  });
  return bytes;
}
