import { describe, expect, it } from 'vitest';
import { allottedBytes, TrainingMemory, TrainingMemoryError } from './training-memory.ts';

const GIB = 2 ** 30;

describe.each([{ plain: false }, { plain: true }])('a training memory, %o', (options) => {
  it('gives views of zeros at cache lines, one behind the other', () => {
    const memory = new TrainingMemory(allottedBytes(5) + allottedBytes(4 * 17) + allottedBytes(4), options);
    const parts = [memory.bytes(5), memory.floats(17), memory.ints(1)];
    expect(parts.map((part) => part.byteOffset)).toEqual([0, 64, 192]);
    expect(parts.map((part) => part.length)).toEqual([5, 17, 1]);
    expect(parts.every((part) => part.buffer === memory.buffer && part.every((x) => x === 0))).toBe(true);
    expect(memory.usedBytes).toBe(256);
  });

  it('refuses a part that it was not made for, naming what would be needed', () => {
    const memory = new TrainingMemory(100, options);
    memory.floats(16);
    expect(() => memory.floats(17)).toThrow('192 bytes are needed in a training memory made for 128');
    expect(memory.floats(16).byteOffset).toBe(64);
  });

  it('holds 1.8 GB, up to the last element', () => {
    const memory = new TrainingMemory(1.8e9, options);
    const values = memory.floats(1.8e9 / 4);
    values[values.length - 1] = 7;
    expect(values.at(-1)).toBe(7);
  });

  it('refuses more than 4 GiB, naming the size and the way out', () => {
    const make = () => new TrainingMemory(5 * GIB, options);
    expect(make).toThrow(TrainingMemoryError);
    expect(make).toThrow('5368709120 bytes');
  });

  it('takes no part of a fraction of a byte', () => {
    expect(() => new TrainingMemory(64, options).bytes(1.5)).toThrow('bug:');
  });
});
