import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { IndexFormatError, IndexStateError, OutputError } from '../core/index.ts';
import { FileSource } from './byte-files.ts';
import { encodeLogHeader, encodeLogRecord, LOG_HEADER_BYTES, readLog } from './log-format.ts';
import { LogWriter } from './log-writer.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lzero-log-'));
let path = '';
beforeEach(() => {
  path = join(mkdtempSync(join(scratch, 'case-')), 'log-7');
});
afterAll(() => rmSync(scratch, { recursive: true }));

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const add = (name: string) => ({ type: 'add' as const, body: Buffer.from(name) });

/** What is read of the log, where it ends, and whether the rest is doubtful. */
function read(number = 7): { bodies: string[]; end: number; doubt: string | undefined } {
  const source = FileSource.open(path);
  try {
    const bodies: string[] = [];
    const end = readLog(source, number, ({ body }) => bodies.push(text(body)));
    return { bodies, ...end };
  } finally {
    source.close();
  }
}

/** A log of these records, each acknowledged before the next is written. Where each ends is returned. */
async function writeLog(names: readonly string[]): Promise<number[]> {
  const log = LogWriter.create(path, 7);
  const ends: number[] = [];
  for (const name of names) {
    log.append([add(name)]);
    await log.sync();
    ends.push(readFileSync(path).length);
  }
  await log.close();
  return ends;
}

const NAMES = ['one', '', 'LZLR inside, and more', 'four'];

describe('a log', () => {
  it('gives back its records in order, with their types', async () => {
    const log = LogWriter.create(path, 7);
    log.append([add('a'), { type: 'delete', body: Buffer.from('b') }]);
    log.append([add('c')]);
    await log.close();
    const source = FileSource.open(path);
    const records: [string, string][] = [];
    readLog(source, 7, ({ type, body }) => records.push([type, text(body)]));
    expect(records).toEqual([
      ['add', 'a'],
      ['delete', 'b'],
      ['add', 'c'],
    ]);
    source.close();
  });

  it('cut at any byte, as a kill does, gives every record that ends before the cut, and no doubt', async () => {
    const ends = await writeLog(NAMES);
    const whole = readFileSync(path);
    for (let size = 0; size <= whole.length; size++) {
      writeFileSync(path, whole.subarray(0, size));
      const numWhole = ends.filter((end) => end <= size).length;
      const end = numWhole > 0 ? ends[numWhole - 1] : size >= LOG_HEADER_BYTES ? LOG_HEADER_BYTES : 0;
      expect(read()).toEqual({ bodies: NAMES.slice(0, numWhole), end, doubt: undefined });
    }
  });

  it('cut at any byte goes on after its last whole record', async () => {
    const ends = await writeLog(NAMES);
    const whole = readFileSync(path);
    for (let size = LOG_HEADER_BYTES; size <= whole.length; size++) {
      writeFileSync(path, whole.subarray(0, size));
      const log = LogWriter.resume(path, read().end);
      log.append([add('next')]);
      await log.sync();
      await log.close();
      expect(read().bodies).toEqual([...NAMES.slice(0, ends.filter((end) => end <= size).length), 'next']);
    }
  });

  it('with zeros or rubbish for a tail, as a power cut leaves it, gives the records before, and doubts the tail', async () => {
    await writeLog(NAMES);
    const whole = readFileSync(path);
    for (const tail of [Buffer.alloc(5000), Buffer.from([0]), Buffer.from('rubbish')]) {
      writeFileSync(path, Buffer.concat([whole, tail]));
      const doubt = expect.stringContaining(`byte ${whole.length}: ${tail.length} bytes that are no record`);
      expect(read()).toEqual({ bodies: NAMES, end: whole.length, doubt });
    }
  });

  it('with a flipped bit in the last record, but for one that makes it longer than the file, is doubtful', async () => {
    const ends = await writeLog(NAMES);
    const whole = readFileSync(path);
    const last = ends.at(-2) ?? 0;
    for (let bit = 8 * last; bit < 8 * whole.length; bit++) {
      const flipped = Buffer.from(whole);
      flipped[bit >> 3] ^= 1 << (bit & 7);
      writeFileSync(path, flipped);
      const isLonger = flipped.readUInt32LE(last + 4) > whole.readUInt32LE(last + 4);
      const doubt = isLonger ? undefined : expect.stringContaining(`byte ${last}: `);
      expect(read()).toEqual({ bodies: NAMES.slice(0, -1), end: last, doubt });
    }
  });

  it('with a flipped bit in the header of its only record is doubtful', async () => {
    await writeLog(['one']);
    const flipped = readFileSync(path);
    flipped[9] ^= 1;
    writeFileSync(path, flipped);
    expect(read()).toEqual({ bodies: [], end: 0, doubt: expect.stringContaining('byte 0: ') });
  });

  it('with a flipped bit anywhere before the last record is an error that names the byte', async () => {
    const ends = await writeLog(NAMES);
    const whole = readFileSync(path);
    const starts = [0, LOG_HEADER_BYTES, ...ends];
    for (let bit = 0; bit < 8 * (ends.at(-2) ?? 0); bit++) {
      const flipped = Buffer.from(whole);
      flipped[bit >> 3] ^= 1 << (bit & 7);
      writeFileSync(path, flipped);
      const at = starts.findLast((start) => start <= bit >> 3);
      expect(() => read()).toThrow(IndexFormatError);
      expect(() => read()).toThrow(`byte ${at}: damaged`);
    }
  });

  it('with wrong bytes before records that were written when those were not yet safe is cut there', () => {
    const first = encodeLogRecord('add', Buffer.from('first'), 0);
    const lost = Buffer.alloc(first.length);
    const third = encodeLogRecord('add', Buffer.from('third'), LOG_HEADER_BYTES + first.length);
    writeFileSync(path, Buffer.concat([encodeLogHeader(7), first, lost, third]));
    expect(read()).toMatchObject({ bodies: ['first'], end: LOG_HEADER_BYTES + first.length });
  });

  it('finds damage whose next record begins across two pieces of the search', () => {
    const first = encodeLogRecord('add', Buffer.alloc(2 ** 20 - 21 - 1), 0);
    first[0] ^= 1; // the search begins at the byte after it, and reads 2²⁰ bytes at once
    const second = encodeLogRecord('add', Buffer.from('b'), LOG_HEADER_BYTES + first.length);
    writeFileSync(path, Buffer.concat([encodeLogHeader(7), first, second]));
    expect(() => read()).toThrow(`byte 16: damaged; a whole record follows at byte ${16 + first.length}`);
  });

  it('of another number or version is refused', async () => {
    await writeLog([]);
    expect(() => read(8)).toThrow('expected log number 8, got 7');
  });

  it('shares syncs among those who wait at the same time, and acknowledges all', async () => {
    const log = LogWriter.create(path, 7);
    const names = Array.from({ length: 200 }, (_, i) => `record ${i}`);
    await Promise.all(
      names.map((name) => {
        log.append([add(name)]);
        return log.sync();
      }),
    );
    await log.close();
    expect(read().bodies).toEqual(names);
  });

  it('that retires while some wait, one of them for a sync that has not begun, acknowledges all', async () => {
    for (let i = 0; i < 100; i++) {
      const log = LogWriter.create(path, 7);
      log.append([add('first')]);
      const first = log.sync();
      log.append([add('second')]); // after the sync that has begun: waits for the next
      await expect(Promise.all([first, log.sync(), log.retire()])).resolves.toBeDefined();
    }
  });

  it('that is closed says so', async () => {
    const log = LogWriter.create(path, 7);
    await log.close();
    expect(() => log.append([add('a')])).toThrow(IndexStateError);
  });

  it.skipIf(process.platform !== 'linux')('on a full disk is an OutputError with a hint', () => {
    symlinkSync('/dev/full', path);
    expect(() => LogWriter.create(path, 7)).toThrow(OutputError);
    symlinkSync('/dev/full', path);
    expect(() => LogWriter.create(path, 7)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('ENOSPC'),
        hint: expect.stringContaining('free some disk space'),
      }),
    );
  });
});
