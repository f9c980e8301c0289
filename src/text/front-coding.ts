/**
 * A sorted list of tokens in few bytes: each token is how much it shares with the one before, and the rest of it.
 *
 *     heads   one byte per token: shared bytes (0…15) in the high half, length of the rest in the low half;
 *             15 in the low half: a varint follows with what is above 15
 *     rests   the rests, one after the other
 *
 * Two streams, since gzip packs them better apart (50.2 against 52.1 KB for bert-base-uncased).
 */
import { type ByteReader, type ByteWriter, quoted, TokenizerError } from '../core/index.ts';

const NIBBLE = 15;

/** Writes tokens; any order is right, a sorted one is small. */
export function writeTokens(out: ByteWriter, tokens: readonly string[]): void {
  const encoder = new TextEncoder();
  const rests: Uint8Array[] = [];
  let previous = new Uint8Array(0);
  for (const token of tokens) {
    if (/\p{Surrogate}/u.test(token)) throw new TokenizerError(`the token ${quoted(token)} is not Unicode text`);
    const bytes = encoder.encode(token);
    const shared = sharedPrefix(previous, bytes);
    const length = bytes.length - shared;
    out.u8((shared << 4) | Math.min(length, NIBBLE));
    if (length >= NIBBLE) out.varint(length - NIBBLE);
    rests.push(bytes.subarray(shared));
    previous = bytes;
  }
  for (const rest of rests) out.bytes(rest);
}

function sharedPrefix(a: Uint8Array, b: Uint8Array): number {
  const limit = Math.min(a.length, b.length, NIBBLE);
  let shared = 0;
  while (shared < limit && a[shared] === b[shared]) shared++;
  return shared;
}

/** Reads `count` tokens. */
export function readTokens(input: ByteReader, count: number): string[] {
  const heads = Array.from({ length: count }, () => readHead(input));
  let previous: Uint8Array = new Uint8Array(0);
  return heads.map(({ shared, length }) => {
    const at = input.position;
    if (shared > previous.length) throw input.error(`shares ${shared} bytes with a token of ${previous.length}`);
    const rest = input.bytes(length);
    const bytes = new Uint8Array(shared + length);
    bytes.set(previous.subarray(0, shared));
    bytes.set(rest, shared);
    previous = bytes;
    return input.utf8(bytes, at);
  });
}

function readHead(input: ByteReader): { shared: number; length: number } {
  const head = input.u8();
  const length = head & NIBBLE;
  return { shared: head >> 4, length: length < NIBBLE ? length : NIBBLE + input.varint(input.left) };
}
