import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32, updateCrc32 } from './crc32.ts';

/** The definition, bit by bit. */
function plainCrc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

describe('crc32', () => {
  it('of "123456789" is 0xcbf43926, of nothing 0', () => {
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
    expect(crc32(new Uint8Array(0))).toBe(0);
  });

  it('is what the definition gives, at every length and position in a buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), fc.nat({ max: 9 }), (bytes, skipped) => {
        const part = bytes.subarray(skipped);
        expect(crc32(part)).toBe(plainCrc32(part));
      }),
    );
  });

  it('goes on from the checksum of what came before', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), fc.nat({ max: 70 }), (bytes, cut) => {
        expect(updateCrc32(crc32(bytes.subarray(0, cut)), bytes.subarray(cut))).toBe(crc32(bytes));
      }),
    );
  });
});
