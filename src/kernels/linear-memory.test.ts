import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IndexStateError } from '../core/index.ts';
import { LinearMemory } from './linear-memory.ts';

const WAYS = [{ plain: true }, { plain: false }, { shared: true }];

describe('a linear memory', () => {
  it.each(WAYS)('%o gives parts that do not overlap, keeps them while it grows, and joins what comes back', (way) => {
    const step = fc.record({ bytes: fc.integer({ min: 0, max: 100_000 }), release: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const memory = LinearMemory.create(way);
        const parts: { address: number; mark: number; bytes: number }[] = [];
        steps.forEach(({ bytes, release }, i) => {
          const mark = 1 + (i % 255);
          const address = memory.place(new Uint8Array(bytes).fill(mark));
          expect(address % 16).toBe(0);
          expect(address).toBeGreaterThan(0);
          parts.push({ address, mark, bytes });
          if (release) memory.release(parts.splice(i % parts.length, 1)[0].address);
        });
        for (const { address, mark, bytes } of parts)
          expect(memory.views.u8.subarray(address, address + bytes).every((byte) => byte === mark)).toBe(true);
        for (const { address } of parts) memory.release(address);
        expect(memory.usedBytes).toBe(0);
        const size = memory.bytes.buffer.byteLength;
        memory.release(memory.allocate(size - 16)); // all of it in one part again, but the first 16 bytes
        expect(memory.bytes.buffer.byteLength).toBe(size);
      }),
      { numRuns: 30 },
    );
  });

  it('fills a part with zeros behind what is placed in it', () => {
    const memory = LinearMemory.create({ plain: true });
    memory.release(memory.place(new Uint8Array(64).fill(9)));
    const address = memory.place(Uint8Array.of(1, 2), 32);
    expect([...memory.views.u8.subarray(address, address + 32)]).toEqual([1, 2, ...new Array(30).fill(0)]);
  });

  it('says what to do when 4 GiB are not enough', () => {
    expect(() => LinearMemory.create().allocate(2 ** 32)).toThrow(IndexStateError);
  });

  it('does not give the same part back twice', () => {
    const memory = LinearMemory.create();
    const address = memory.allocate(1);
    memory.release(address);
    expect(() => memory.release(address)).toThrow('bug:');
  });
});
