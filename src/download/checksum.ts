/** Checksums of what is fetched: as published (MD5 or SHA-256), and always SHA-256 for our own records. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** A checksum that a file must have. MD5 where its publisher gives no other: it finds damage, not ill will. */
export type Checksum = {
  readonly kind: 'md5' | 'sha256';
  /** In lower-case hexadecimal digits. */
  readonly hex: string;
};

/** Both checksums of a file. */
export type Digests = Readonly<Record<Checksum['kind'], string>>;

/** Takes bytes as they come and knows their checksums in the end. */
export class ContentHash {
  readonly #hashes: Readonly<Record<Checksum['kind'], Hash>> = { md5: createHash('md5'), sha256: createHash('sha256') };

  /** Goes on with more bytes. */
  update(bytes: Uint8Array): void {
    this.#hashes.md5.update(bytes);
    this.#hashes.sha256.update(bytes);
  }

  /** The checksums of the bytes so far. */
  digests(): Digests {
    return { md5: this.#hashes.md5.copy().digest('hex'), sha256: this.#hashes.sha256.copy().digest('hex') };
  }
}

/** Reads a file, or its first `sizeBytes` bytes, into a hash that can go on from there. */
export async function hashFile(path: string, sizeBytes = Number.POSITIVE_INFINITY): Promise<ContentHash> {
  const hash = new ContentHash();
  if (sizeBytes === 0) return hash;
  for await (const chunk of createReadStream(path, { end: sizeBytes - 1, highWaterMark: 1024 * 1024 }))
    hash.update(chunk);
  return hash;
}
