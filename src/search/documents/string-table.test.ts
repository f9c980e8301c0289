import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { flipped, sourceOf, written } from '../../../test/search/memory.ts';
import { InputError } from '../../core/index.ts';
import { SectionFile, SectionWriter } from './section-file.ts';
import { isWellFormed, StringTable, StringTableWriter } from './string-table.ts';

const KIND = { name: 'test file', magic: 'LZTT', version: 1 };

function bytesOfTable(strings: Iterable<string>): Uint8Array {
  return written((sink) => {
    const out = new SectionWriter(sink, KIND);
    const table = new StringTableWriter();
    for (const text of strings) table.add(text);
    table.write(out, 'words', 'the word');
    out.finish();
  });
}

const openTable = (bytes: Uint8Array): StringTable => new StringTable(new SectionFile(sourceOf(bytes), KIND), 'words');

const text = fc.string({ unit: 'binary' }).filter(isWellFormed);
const strings = fc.uniqueArray(fc.oneof(text, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 4 })), {
  maxLength: 60,
});

describe('a string table', () => {
  test.prop([strings, fc.array(text)])('finds exactly its strings, under their numbers', (expected, others) => {
    const table = openTable(bytesOfTable(expected));
    table.verify();
    expect(table.size).toBe(expected.length);
    expect(Array.from(table.walk(), (bytes) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))).toEqual(
      expected,
    );
    expected.forEach((string, number) => {
      expect(table.stringAt(number)).toBe(string);
      expect(table.numberOf(string)).toBe(number);
    });
    for (const other of others) {
      const number = expected.indexOf(other);
      expect(table.numberOf(other)).toBe(number < 0 ? undefined : number);
    }
  });

  test.prop([strings, fc.nat(), fc.array(text, { maxLength: 5 })])(
    'answers or throws an error of ours, whatever bit is wrong',
    (contents, seed, others) => {
      const bytes = bytesOfTable(contents);
      const damaged = flipped(bytes, seed % (8 * bytes.length));
      const attempt = (ask: () => unknown): void => {
        try {
          ask();
        } catch (error) {
          expect(error).toMatchObject({ code: 'INDEX_FORMAT' });
        }
      };
      attempt(() => {
        const table = openTable(damaged);
        for (let i = 0; i < table.size; i++) attempt(() => table.stringAt(i));
        for (const string of [...contents, ...others]) attempt(() => table.numberOf(string));
        attempt(() => table.verify());
        attempt(() => [...table.walk()]);
      });
    },
  );

  it('finds each of 20,000 numbered ids with at most 5 reads of together 400 bytes', () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => `document-${i}`);
    const source = sourceOf(bytesOfTable(ids));
    const table = new StringTable(new SectionFile(source, KIND), 'words');
    for (let i = 0; i < ids.length; i += 7) {
      source.reads = 0;
      source.readBytes = 0;
      expect(table.numberOf(ids[i])).toBe(i);
      expect(source.reads).toBeLessThanOrEqual(5);
      expect(source.readBytes).toBeLessThan(400);
    }
    table.verify();
  });

  it('holds strings of a megabyte', () => {
    const long = ['x'.repeat(1 << 20), 'y'.repeat(3 << 20), 'short'];
    const table = openTable(bytesOfTable(long));
    expect(long.map((string) => table.numberOf(string))).toEqual([0, 1, 2]);
    expect(Array.from(table.walk(), (bytes) => bytes.length)).toEqual([1 << 20, 3 << 20, 5]);
  });

  it('refuses a string that occurs twice, and names it', () => {
    expect(() => bytesOfTable(['a', 'b', 'a'])).toThrow(InputError);
    expect(() => bytesOfTable(['a', 'b', 'a'])).toThrow('the word "a" occurs twice');
  });

  it('does not take half of a surrogate pair for its replacement character', () => {
    expect(openTable(bytesOfTable(['a\ufffd'])).numberOf('a\ud800')).toBeUndefined();
  });
});
