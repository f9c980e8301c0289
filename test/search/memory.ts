/** Files of an index in memory, for tests: a sink, a source that counts what is read, zlib's codec, damaged copies. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { IndexFormatError } from '../../src/core/index.ts';
import type { BlockCodec, ByteSink, ByteSource } from '../../src/search/index.ts';

/** Deflate without header, as the index uses it in Node. */
export const codec: BlockCodec = {
  compress: (bytes) => deflateRawSync(bytes),
  decompress: (bytes, rawBytes) => inflateRawSync(bytes, { maxOutputLength: Math.max(1, rawBytes) }),
};

/** What `write` puts into a sink. */
export function written(write: (sink: ByteSink) => void): Uint8Array {
  const pieces: Uint8Array[] = [];
  write({ write: (bytes) => pieces.push(Uint8Array.from(bytes)) });
  return Uint8Array.from(Buffer.concat(pieces));
}

/** A source that knows how often and how much was read. */
export type CountingSource = ByteSource & { reads: number; readBytes: number };

/** Bytes as a source. Reads are Buffers at odd positions, the worst that a file can give. */
export function sourceOf(bytes: Uint8Array, label = 'test'): CountingSource {
  const source: CountingSource = {
    label,
    sizeBytes: bytes.length,
    reads: 0,
    readBytes: 0,
    read(offset, length) {
      if (!(offset >= 0 && length >= 0 && offset + length <= bytes.length))
        throw new IndexFormatError(`${label}: ${length} bytes at ${offset} are not there`);
      source.reads++;
      source.readBytes += length;
      const padded = Buffer.alloc(length + 1);
      padded.set(bytes.subarray(offset, offset + length), 1);
      return padded.subarray(1);
    },
  };
  return source;
}

/** A copy with one bit changed. */
export function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[bit >>> 3] ^= 1 << (bit & 7);
  return copy;
}
