/** Packs pieces as src/browser/packed.ts unpacks them, and names files by their content. */
import { createHash } from 'node:crypto';
import { constants, deflateRawSync } from 'node:zlib';
import { NAME_BYTES } from '../browser/index.ts';
import { ByteWriter, crc32 } from '../core/index.ts';

/**
 * One piece of some streams of bytes, one after the other. Each stream gets code tables of its own, as gaps and codes of
 * postings need: one table for both takes a tenth more.
 */
export function pack(...streams: readonly Uint8Array[]): Uint8Array {
  const packed = streams.map((bytes, i) =>
    deflateRawSync(bytes, {
      level: 9,
      memLevel: 9,
      ...(i < streams.length - 1 ? { finishFlush: constants.Z_SYNC_FLUSH } : {}),
    }),
  );
  const body = Buffer.concat(packed);
  const out = new ByteWriter();
  out.u32(crc32(body));
  out.bytes(body);
  return out.finish();
}

/** The beginning of a file's hash: what it is called by. */
export function hashOf(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest().subarray(0, NAME_BYTES);
}

/** The same in hexadecimal. */
export function hashName(bytes: Uint8Array): string {
  return Buffer.from(hashOf(bytes)).toString('hex');
}
