/** Checksums of what is fetched: as its publisher gives them, and always SHA-256 for our own records. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** A checksum that a file must have, in lower-case hexadecimal digits. */
export type Checksum =
  /** MD5 where its publisher gives no other: it finds damage, not ill will. */
  | { readonly kind: 'md5' | 'sha256'; readonly hex: string }
  /** The name that git gives a file: SHA-1 of "blob ", its size, a zero byte and its bytes. */
  | { readonly kind: 'git-blob'; readonly hex: string; readonly sizeBytes: number };

/** Takes bytes as they come, and knows in the end whether they are those that were promised. */
export class ContentHash {
  readonly #expected: Checksum | undefined;
  readonly #sha256 = createHash('sha256');
  /** Of the promised kind, where that is another. */
  readonly #other: Hash | undefined;

  constructor(expected?: Checksum | undefined) {
    this.#expected = expected;
    this.#other = expected && otherHash(expected);
  }

  /** Goes on with more bytes. */
  update(bytes: Uint8Array): void {
    this.#sha256.update(bytes);
    this.#other?.update(bytes);
  }

  /** SHA-256 of the bytes so far. */
  get sha256(): string {
    return this.#sha256.copy().digest('hex');
  }

  /** How a file of the bytes so far differs from the promised one; undefined where it does not. */
  get problem(): string | undefined {
    if (!this.#expected) return undefined;
    const { kind, hex } = this.#expected;
    const found = this.#other ? this.#other.copy().digest('hex') : this.sha256;
    return found === hex ? undefined : `expected ${kind} ${hex}, got ${found}`;
  }
}

function otherHash(expected: Checksum): Hash | undefined {
  if (expected.kind === 'git-blob') return createHash('sha1').update(`blob ${expected.sizeBytes}\0`);
  return expected.kind === 'md5' ? createHash('md5') : undefined;
}

/** Reads a file, or its first `sizeBytes` bytes, into a hash that can go on from there. */
export async function hashFile(
  path: string,
  expected: Checksum | undefined,
  sizeBytes = Number.POSITIVE_INFINITY,
): Promise<ContentHash> {
  const hash = new ContentHash(expected);
  if (sizeBytes === 0) return hash;
  for await (const chunk of createReadStream(path, { end: sizeBytes - 1, highWaterMark: 1024 * 1024 }))
    hash.update(chunk);
  return hash;
}
