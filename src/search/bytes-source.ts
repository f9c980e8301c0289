/** Bytes in memory, written and read: for segments that never were on a disk. */
import { IndexFormatError } from '../core/index.ts';
import type { ByteSink, ByteSource } from './types.ts';

/** Makes a source of bytes. `label` names them in errors. */
export function bytesSource(bytes: Uint8Array, label: string): ByteSource {
  return {
    label,
    sizeBytes: bytes.length,
    read: (offset, length) => {
      if (offset + length <= bytes.length) return bytes.subarray(offset, offset + length);
      throw new IndexFormatError(`${label}: expected ${length} bytes at ${offset}, there are ${bytes.length} in all`);
    },
  };
}

/** All that `write` puts into a sink, as one array. */
export function writtenBytes(write: (sink: ByteSink) => void): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  write({ write: (bytes) => pieces.push(new Uint8Array(bytes)) });
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
