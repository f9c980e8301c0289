/** Bytes in memory as a source: for segments that never were on a disk. */
import { IndexFormatError } from '../core/index.ts';
import type { ByteSource } from './types.ts';

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
