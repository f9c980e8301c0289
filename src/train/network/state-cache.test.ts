import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockedError, Random, ResumeError } from '../../core/index.ts';
import type { StateCacheOptions } from './state-cache.ts';
import { StateCache } from './state-cache.ts';
import { StateIndex } from './state-index.ts';

const H = 3;
const OPTIONS = { identity: 'ab'.repeat(32), hiddenSize: H, maxBytes: 1e6 };
const HEADER = 64;
/** A record's header, before 4·T·H bytes. */
const RECORD = 32;

/** A document of so many tokens, and states that only it has. */
function sample(numTokens: number): { ids: Int32Array; states: Float32Array } {
  const random = new Random(numTokens);
  const ids = Int32Array.from({ length: numTokens }, () => random.below(1000));
  return { ids, states: Float32Array.from({ length: numTokens * H }, () => random.normal()) };
}

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-states-'));
  path = join(folder, 'states.cache');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Opens the cache, and closes it after. */
function withCache<T>(use: (cache: StateCache) => T, options: Partial<StateCacheOptions> = {}): T {
  const cache = StateCache.open(path, { ...OPTIONS, ...options });
  try {
    return use(cache);
  } finally {
    cache.close();
  }
}

/** The states of a document as the cache has them; undefined where it has none. */
function found(cache: StateCache, numTokens: number): Float32Array | undefined {
  const states = new Float32Array(numTokens * H);
  return cache.read(sample(numTokens).ids, states) ? states : undefined;
}

function fill(...lengths: readonly number[]): void {
  withCache((cache) => {
    for (const { ids, states } of lengths.map(sample)) expect(cache.append(ids, states)).toBe(true);
  });
}

describe('a cache of states', () => {
  it('gives back the bits that were put in, at once and after opening again, and nothing else', () => {
    withCache((cache) => {
      const { ids, states } = sample(5);
      expect(found(cache, 5)).toBeUndefined();
      cache.append(ids, states);
      expect(found(cache, 5)).toEqual(states);
    });
    fill(300, 1);
    withCache((cache) => {
      for (const length of [5, 300, 1]) expect(found(cache, length)).toEqual(sample(length).states);
      expect(found(cache, 4)).toBeUndefined();
      expect(cache.numDocs).toBe(3);
      expect(cache.sizeBytes).toBe(HEADER + 3 * RECORD + 4 * H * 306);
    });
    expect(statSync(path).size).toBe(HEADER + 3 * RECORD + 4 * H * 306);
  });

  it('cut off anywhere, keeps the records before the cut and goes on behind them', () => {
    fill(2, 1, 3);
    const whole = readFileSync(path);
    const ends = [HEADER, HEADER + RECORD + 24, HEADER + 2 * RECORD + 36, whole.length];
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      withCache((cache) => {
        expect(cache.numDocs).toBe(ends.filter((end) => end <= length && end > HEADER).length);
        cache.append(sample(4).ids, sample(4).states);
      });
      withCache((cache) => expect(found(cache, 4)).toEqual(sample(4).states));
    }
  });

  it('cuts off what is no record: zeros, as a crash may leave them, or anything else', () => {
    fill(2);
    const { length } = readFileSync(path);
    for (const rest of [Buffer.alloc(100), Buffer.alloc(100, 7)]) {
      appendFileSync(path, rest);
      withCache((cache) => expect([cache.numDocs, cache.sizeBytes]).toEqual([1, length]));
      expect(statSync(path).size).toBe(length);
    }
  });

  it('does not give states whose checksum is wrong; put in again, they count', () => {
    fill(2, 3);
    const bytes = readFileSync(path);
    bytes[HEADER + RECORD + 5] ^= 1;
    writeFileSync(path, bytes);
    withCache((cache) => {
      expect(found(cache, 2)).toBeUndefined();
      expect(found(cache, 3)).toEqual(sample(3).states);
      cache.append(sample(2).ids, sample(2).states);
    });
    withCache((cache) => expect(found(cache, 2)).toEqual(sample(2).states));
  });

  it('does not give states of a file that has become shorter meanwhile', () => {
    fill(2);
    withCache((cache) => {
      truncateSync(path, HEADER + RECORD + 8);
      expect(found(cache, 2)).toBeUndefined();
    });
  });

  it('never exceeds its limit, and says that it is full', () => {
    const maxBytes = HEADER + RECORD + 4 * H * 2;
    withCache(
      (cache) => {
        expect(cache.append(sample(2).ids, sample(2).states)).toBe(true);
        expect(cache.isFull).toBe(false);
        expect(cache.append(sample(1).ids, sample(1).states)).toBe(false);
        expect(cache.isFull).toBe(true);
        expect(found(cache, 2)).toEqual(sample(2).states);
      },
      { maxBytes },
    );
    expect(statSync(path).size).toBe(maxBytes);
  });

  it('refuses states of another network or another size, and files that are none, and leaves them as they are', () => {
    fill(2);
    expect(() => withCache(() => {}, { identity: 'ac'.repeat(32) })).toThrow(/holds states of another network/);
    expect(() => withCache(() => {}, { hiddenSize: 4 })).toThrow(ResumeError);
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
});

const keys = fc.array(fc.tuple(fc.nat(3), fc.nat(1), fc.nat(1), fc.nat(1)), { maxLength: 60 });
test.prop([keys])('the index agrees with a Map, also where keys share a slot', (list) => {
  const index = new StateIndex();
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
  const index = new StateIndex();
  const random = new Random(1);
  const list = Array.from({ length: 5000 }, () => Uint32Array.from({ length: 4 }, () => random.uint32()));
  list.forEach((key, i) => {
    index.set(key, 64 + i);
  });
  expect(list.every((key, i) => index.get(key) === 64 + i)).toBe(true);
});
