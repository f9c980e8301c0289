import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockedError, Random } from '../core/index.ts';
import type { RecordCacheOptions } from './record-cache.ts';
import { RecordCache, recordKey } from './record-cache.ts';
import { RecordIndex } from './record-index.ts';

const OPTIONS = { kind: 'states', identity: 'ab'.repeat(32), maxBytes: 1e6 };
const HEADER = 64;
/** A record's header, before its body. */
const RECORD = 32;

/** A body of so many bytes that only it has, and its key. */
function sample(size: number) {
  const random = new Random(size);
  return { key: recordKey(`of ${size}`), body: Uint8Array.from({ length: size }, () => random.below(256)) };
}

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-records-'));
  path = join(folder, 'records.cache');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Opens the cache, and closes it after. */
function withCache<T>(use: (cache: RecordCache) => T, options: Partial<RecordCacheOptions> = {}): T {
  const cache = RecordCache.open(path, { ...OPTIONS, ...options });
  try {
    return use(cache);
  } finally {
    cache.close();
  }
}

/** A body as the cache has it; undefined where it has none. */
function found(cache: RecordCache, size: number): Uint8Array | undefined {
  return cache.read(sample(size).key);
}

function put(cache: RecordCache, size: number): boolean {
  const { key, body } = sample(size);
  return cache.append(key, body);
}

function fill(...sizes: readonly number[]): void {
  withCache((cache) => {
    for (const size of sizes) expect(put(cache, size)).toBe(true);
  });
}

describe('a cache of records', () => {
  it('gives back the bytes that were put in, at once and after opening again, and nothing else', () => {
    withCache((cache) => {
      expect([found(cache, 5), cache.has(sample(5).key)]).toEqual([undefined, false]);
      put(cache, 5);
      expect([found(cache, 5), cache.has(sample(5).key)]).toEqual([sample(5).body, true]);
    });
    fill(300, 0);
    withCache((cache) => {
      for (const size of [5, 300, 0]) expect(found(cache, size)).toEqual(sample(size).body);
      expect(found(cache, 4)).toBeUndefined();
      expect(cache.size).toBe(3);
      expect(cache.sizeBytes).toBe(HEADER + 3 * RECORD + 305);
    });
    expect(statSync(path).size).toBe(HEADER + 3 * RECORD + 305);
  });

  it('reads into memory of the right size only', () => {
    fill(8);
    withCache((cache) => {
      const { key, body } = sample(8);
      const memory = new Uint8Array(8);
      expect([cache.readInto(key, memory), memory]).toEqual([true, body]);
      for (const size of [7, 9]) expect(cache.readInto(key, new Uint8Array(size))).toBe(false);
    });
  });

  it('cut off anywhere, keeps the records before the cut and goes on behind them', () => {
    fill(2, 1, 3);
    const whole = readFileSync(path);
    const ends = [HEADER, HEADER + RECORD + 2, HEADER + 2 * RECORD + 3, whole.length];
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      withCache((cache) => {
        expect(cache.size).toBe(ends.filter((end) => end <= length && end > HEADER).length);
        put(cache, 4);
      });
      withCache((cache) => expect(found(cache, 4)).toEqual(sample(4).body));
    }
  });

  it('cuts off what is no record: zeros, as a crash may leave them, or anything else', () => {
    fill(2);
    const { length } = readFileSync(path);
    for (const rest of [Buffer.alloc(100), Buffer.alloc(100, 7)]) {
      appendFileSync(path, rest);
      withCache((cache) => expect([cache.size, cache.sizeBytes]).toEqual([1, length]));
      expect(statSync(path).size).toBe(length);
    }
  });

  it('does not give bytes whose checksum is wrong; put in again, they count', () => {
    fill(2, 3);
    const bytes = readFileSync(path);
    bytes[HEADER + RECORD + 1] ^= 1;
    writeFileSync(path, bytes);
    withCache((cache) => {
      expect(found(cache, 2)).toBeUndefined();
      expect(found(cache, 3)).toEqual(sample(3).body);
      put(cache, 2);
    });
    withCache((cache) => expect(found(cache, 2)).toEqual(sample(2).body));
  });

  it('does not give bytes of a file that has become shorter meanwhile', () => {
    fill(2);
    withCache((cache) => {
      truncateSync(path, HEADER + RECORD + 1);
      expect(found(cache, 2)).toBeUndefined();
    });
  });

  it('never exceeds its limit, and says that it is full', () => {
    const maxBytes = HEADER + RECORD + 2;
    withCache(
      (cache) => {
        expect(put(cache, 2)).toBe(true);
        expect(cache.isFull).toBe(false);
        expect(put(cache, 1)).toBe(false);
        expect(cache.isFull).toBe(true);
        expect(found(cache, 2)).toEqual(sample(2).body);
      },
      { maxBytes },
    );
    expect(statSync(path).size).toBe(maxBytes);
  });

  it('refuses records of another network or another kind, and files that are none, and leaves them as they are', () => {
    fill(2);
    expect(() => withCache(() => {}, { identity: 'ac'.repeat(32) })).toThrow(/holds states of another network/);
    expect(() => withCache(() => {}, { kind: 'vectors' })).toThrow(/is no cache of vectors/);
    for (const text of ['a letter', 'a letter'.repeat(20)]) {
      writeFileSync(path, text);
      expect(() => withCache(() => {})).toThrow(/is no cache of states/);
      expect(readFileSync(path, 'utf8')).toBe(text);
    }
  });

  it('is open to one at a time', () => {
    withCache(() => expect(() => withCache(() => {})).toThrow(LockedError));
    withCache(() => {});
  });

  it('is read by others while one writes, as it was when they opened it, and is left as it is', () => {
    expect(RecordCache.openToRead(path, OPTIONS)).toBeUndefined(); // nothing is made
    expect(readdirSync(folder)).toEqual([]);
    fill(2);
    withCache((cache) => {
      const reader = RecordCache.openToRead(path, OPTIONS);
      put(cache, 3);
      expect([2, 3].map((size) => reader && found(reader, size))).toEqual([sample(2).body, undefined]);
      expect(() => reader && put(reader, 4)).toThrow(/^bug: .* is only read/);
      reader?.close();
      expect([2, 3].map((size) => found(cache, size))).toEqual([2, 3].map((size) => sample(size).body)); // and is still its
      expect(() => withCache(() => {})).toThrow(LockedError);
    });
    for (const length of [HEADER / 2, HEADER + 1, HEADER + RECORD + 1]) {
      const torn = readFileSync(path).subarray(0, length);
      const file = join(folder, `torn-${length}`);
      writeFileSync(file, torn); // as one that somebody is about to write
      const reader = RecordCache.openToRead(file, OPTIONS);
      expect(reader?.size).toBe(0);
      reader?.close();
      expect(readFileSync(file)).toEqual(torn);
    }
    expect(() => RecordCache.openToRead(path, { ...OPTIONS, identity: 'ac'.repeat(32) })).toThrow(/of another network/);
  });
});

const keys = fc.array(fc.tuple(fc.nat(3), fc.nat(1), fc.nat(1), fc.nat(1)), { maxLength: 60 });
test.prop([keys])('the index agrees with a Map, also where keys share a slot', (list) => {
  const index = new RecordIndex();
  const map = new Map<string, number>();
  list.forEach((key, i) => {
    expect(index.get(Uint32Array.from(key))).toBe(map.get(key.join()));
    index.set(Uint32Array.from(key), 64 + i);
    map.set(key.join(), 64 + i);
  });
  for (const [key, position] of map) expect(index.get(Uint32Array.from(key.split(','), Number))).toBe(position);
  expect(index.size).toBe(map.size);
});

it('the index finds each of 5,000 keys after growing', () => {
  const index = new RecordIndex();
  const random = new Random(1);
  const list = Array.from({ length: 5000 }, () => Uint32Array.from({ length: 4 }, () => random.uint32()));
  list.forEach((key, i) => {
    index.set(key, 64 + i);
  });
  expect(list.every((key, i) => index.get(key) === 64 + i)).toBe(true);
});
