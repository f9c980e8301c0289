import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { makeZip, type ZipFile } from '../../test/http/make-zip.ts';
import { DownloadError, InterruptedError, LzeroError, messageOf } from '../core/index.ts';
import { unzip } from './unzip.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lzero-unzip-'));
afterAll(() => rmSync(scratch, { recursive: true }));
let archive = '';
let folder = '';
beforeEach(() => {
  const own = mkdtempSync(join(scratch, 'case-'));
  archive = join(own, 'a.zip');
  folder = join(own, 'out', 'deep');
});

const files: readonly ZipFile[] = [
  { name: 'set/corpus.jsonl', text: '{"_id":"é"}\n'.repeat(60_000) },
  { name: 'set/', text: '', isStored: true },
  { name: 'set/qrels/test.tsv', text: 'stored as it is', isStored: true },
  { name: 'set/empty', text: '', isStored: true },
];

async function unpack(bytes: Buffer, options?: Parameters<typeof unzip>[2]): Promise<string[]> {
  writeFileSync(archive, bytes);
  return await unzip(archive, folder, options);
}

describe('unzip', () => {
  it.each([
    ['plain', files, {}],
    ['with a comment that looks like an end record', files, { comment: 'PK\u0005\u0006 and more, longer than that' }],
    ['zip64 throughout', files.map((file) => ({ ...file, isWide: true })), { isWide: true }],
  ])('unpacks stored and deflated files: %s', async (_, content, options) => {
    const names = ['set/corpus.jsonl', 'set/qrels/test.tsv', 'set/empty'];
    expect(await unpack(makeZip(content, options))).toEqual(names);
    for (const { name, text } of content.filter((file) => names.includes(file.name)))
      expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
  });

  it('puts files where the caller wants them and leaves out the rest', async () => {
    const place = (name: string): string | undefined => (name.endsWith('.tsv') ? 'x/y.tsv' : undefined);
    expect(await unpack(makeZip(files), { place })).toEqual(['x/y.tsv']);
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(['x', 'x/y.tsv']);
  });

  it('reports the bytes that came out', async () => {
    const told: unknown[] = [];
    const progress = { start: (work: object) => told.push(work), update: (n: number) => told.push(n), stop: () => {} };
    await unpack(makeZip(files), { progress });
    const total = files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    expect(told[0]).toMatchObject({ unit: 'bytes', total });
    expect(told.at(-1)).toBe(total);
  });

  it.each([
    '../outside',
    'a/../../outside',
    '/etc/outside',
    'C:/outside',
    'a\\..\\..\\outside',
    'a//b',
    './a',
    'nul\0',
    'colour\u001b[31m',
    'x'.repeat(256),
    `${'x/'.repeat(600)}x`,
    '',
  ])('refuses the name %j and writes nothing', async (name) => {
    const error = await unpack(makeZip([{ name, text: 'x' }])).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DownloadError);
    expect(messageOf(error).length).toBeLessThan(600);
    expect(messageOf(error)).not.toMatch(/\p{Cc}/u);
    expect(existsSync(folder)).toBe(false);
  });

  it.each([
    ['a link', { mode: 0o120777 }, /link/],
    ['an encrypted file', { flags: 1 }, /encrypted/],
    ['an unknown method', { method: 12 }, /method 12/],
    ['a wrong checksum', { crc: 1 }, /checksum/],
    ['more bytes than it says', { sizeBytes: 3 }, /size or checksum/],
    ['fewer bytes than it says', { sizeBytes: 900 }, /size or checksum/],
    ['bytes that are not deflated', { isStored: true, method: 8 }, /not a sound zip/],
  ])('refuses %s', async (_, lie, message) => {
    await expect(unpack(makeZip([{ name: 'a', text: 'some bytes', ...lie }]))).rejects.toThrow(message);
  });

  it('refuses what would become too large, before it writes', async () => {
    const bomb = makeZip([{ name: 'a', text: 'x'.repeat(1_000_000) }]);
    await expect(unpack(bomb, { maxBytes: 999_999 })).rejects.toThrow(/allowed are 999999/);
    expect(existsSync(folder)).toBe(false);
  });

  it('refuses two files of one name', async () => {
    const twice = [files[2], files[2]];
    await expect(unpack(makeZip(twice))).rejects.toThrow(/same name/);
  });

  it('refuses what is no archive, empty, or cut short', async () => {
    const whole = makeZip(files);
    for (const bytes of [Buffer.from('<html>'), Buffer.alloc(0), whole.subarray(0, whole.length - 1)])
      await expect(unpack(bytes)).rejects.toThrow(/end record/);
    await expect(unzip(join(folder, 'none.zip'), folder)).rejects.toThrow(/cannot open/);
  });

  it('of damaged bytes is an error of ours or right, never anything else (100 flips)', async () => {
    const small = makeZip([
      { name: 'a.txt', text: 'hello hello hello hello', isWide: true },
      { name: 'b/c.txt', text: 'more', isStored: true },
    ]);
    await fc.assert(
      fc.asyncProperty(fc.nat(small.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const bytes = Buffer.from(small);
        bytes[at] ^= mask;
        rmSync(folder, { recursive: true, force: true });
        const error: unknown = await unpack(bytes, { maxBytes: 10_000 }).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error === undefined || error instanceof LzeroError, String(error)).toBe(true);
        if (error === undefined)
          // names may have changed; contents have not
          for (const name of readdirSync(folder, { recursive: true, withFileTypes: true }).filter((f) => f.isFile()))
            expect(['hello hello hello hello', 'more']).toContain(
              readFileSync(join(name.parentPath, name.name), 'utf8'),
            );
      }),
      { numRuns: 100 },
    );
  });

  it('stops on a signal', async () => {
    await expect(unpack(makeZip(files), { signal: AbortSignal.abort() })).rejects.toThrow(InterruptedError);
  });
});
