import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { crc32, IndexFormatError, OutputError, Random } from '../core/index.ts';
import { FileSink, FileSource, writeThroughSink } from './byte-files.ts';
import { CachedSource, PageCache } from './cached-source.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lzero-bytes-'));
let path = '';
beforeEach(() => {
  path = join(mkdtempSync(join(scratch, 'case-')), 'file');
});
afterAll(() => rmSync(scratch, { recursive: true }));

function randomBytes(length: number): Uint8Array {
  const random = new Random(length);
  return Uint8Array.from({ length }, () => random.below(256));
}

describe('a file sink', () => {
  it('writes pieces of any size in order, and knows their size and checksum', () => {
    const pieces = [3, 0, 1_000_000, 70_000, 2_500_000, 1].map(randomBytes);
    const { file, result } = writeThroughSink(path, (sink) => {
      for (const piece of pieces) sink.write(piece);
      return 'done';
    });
    const whole = Buffer.concat(pieces);
    expect(readFileSync(path).equals(whole)).toBe(true);
    expect([file, result]).toEqual([{ sizeBytes: whole.length, crc32: crc32(whole) }, 'done']);
  });

  it('takes the bytes over before it returns', () => {
    const bytes = Uint8Array.of(1, 2);
    writeThroughSink(path, (sink) => {
      sink.write(bytes);
      bytes.fill(9);
    });
    expect([...readFileSync(path)]).toEqual([1, 2]);
  });

  it('leaves nothing where writing fails', () => {
    const fail = () =>
      writeThroughSink(path, () => {
        throw new RangeError('from inside');
      });
    expect(fail).toThrow('from inside');
    expect(existsSync(path)).toBe(false);
    expect(() => new FileSink(join(path, 'x'))).toThrow(OutputError);
  });

  it.skipIf(process.platform !== 'linux')('on a full disk is an OutputError with a hint', () => {
    symlinkSync('/dev/full', path);
    expect(() => writeThroughSink(path, (sink) => sink.write(randomBytes(10)))).toThrow(
      expect.objectContaining({ name: 'OutputError', hint: expect.stringContaining('free some disk space') }),
    );
  });
});

describe('a file source, and one with a cache before it,', () => {
  it('give the bytes at any place, and an error that names the byte beyond the end', () => {
    const bytes = randomBytes(100_000);
    writeFileSync(path, bytes);
    const file = FileSource.open(path);
    const sources = [file, new CachedSource(file, new PageCache(1)), new CachedSource(file, new PageCache(10 ** 6))];
    const place = fc.tuple(fc.integer({ min: 0, max: 101_000 }), fc.oneof(fc.nat(10), fc.nat(50_000)));
    fc.assert(
      fc.property(place, ([offset, length]) => {
        for (const source of sources) {
          if (offset + length > bytes.length) expect(() => source.read(offset, length)).toThrow(IndexFormatError);
          else expect(Buffer.compare(source.read(offset, length), bytes.subarray(offset, offset + length))).toBe(0);
        }
      }),
    );
    file.close();
    file.close();
  });

  it('say so when the file has become shorter', () => {
    writeFileSync(path, randomBytes(100));
    const file = FileSource.open(path);
    truncateSync(path, 50);
    expect(() => file.read(40, 20)).toThrow(`${path}: byte 50: cannot be read: the file has become shorter`);
    file.close();
  });

  it('keep what was used last: pages that are asked for again and again are read once', () => {
    let numReads = 0;
    const source = {
      label: 'counted',
      sizeBytes: 2 ** 20,
      read: (_: number, length: number) => {
        numReads++;
        return new Uint8Array(length);
      },
    };
    const cached = new CachedSource(source, new PageCache(8 * 16 * 1024));
    for (let page = 0; page < 64; page++) {
      cached.read(0, 4); // page 0, between all others
      cached.read(page * 16 * 1024, 4);
    }
    expect(numReads).toBe(64);
  });

  it('keep no more pages than they may, all that share a cache together, and do not mix them up', () => {
    const files = Array.from({ length: 5 }, (_, i) => ({ path: `${path}-${i}`, bytes: randomBytes(400_000) }));
    for (const file of files) writeFileSync(file.path, file.bytes);
    const opened = files.map((file) => FileSource.open(file.path));
    const cache = new PageCache(64 * 1024);
    const sources = opened.map((file) => new CachedSource(file, cache));
    for (let at = 0; at < 400_000; at += 1000)
      sources.forEach((source, i) => {
        expect(Buffer.compare(source.read(at, 4), files[i].bytes.subarray(at, at + 4))).toBe(0);
      });
    expect(cache.memoryBytes).toBe(64 * 1024);
    for (const file of opened) file.close();
  });
});
