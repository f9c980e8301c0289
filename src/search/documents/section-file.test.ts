import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { flipped, sourceOf, written } from '../../../test/search/memory.ts';
import { IndexFormatError } from '../../core/index.ts';
import { SectionFile, SectionWriter } from './section-file.ts';

const KIND = { name: 'test file', magic: 'LZTT', version: 3 };

function fileOf(sections: Readonly<Record<string, Uint8Array>>): Uint8Array {
  return written((sink) => {
    const out = new SectionWriter(sink, KIND);
    for (const [name, bytes] of Object.entries(sections)) out.section(name, bytes);
    out.finish();
  });
}

function open(bytes: Uint8Array): SectionFile {
  return new SectionFile(sourceOf(bytes), KIND);
}

const sections = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 40 }), { maxKeys: 5 });

describe('a file of sections', () => {
  test.prop([sections])('gives back what was written', (expected) => {
    const file = open(fileOf(expected));
    file.verify();
    for (const [name, bytes] of Object.entries(expected)) {
      expect([...file.whole(name)]).toEqual([...bytes]);
      expect(file.lengthOf(name)).toBe(bytes.length);
    }
  });

  test.prop([sections, fc.nat()])('is refused by verify when any one bit is wrong', (contents, seed) => {
    const bytes = fileOf(contents);
    const damaged = flipped(bytes, seed % (8 * bytes.length));
    expect(() => open(damaged).verify()).toThrow(IndexFormatError);
  });

  test.prop([sections, fc.nat()])('is refused when it is cut off', (contents, seed) => {
    const bytes = fileOf(contents);
    expect(() => open(bytes.subarray(0, seed % bytes.length))).toThrow(IndexFormatError);
  });

  it('may be written to a section in pieces', () => {
    const bytes = written((sink) => {
      const out = new SectionWriter(sink, KIND);
      out.begin('a');
      out.write(Uint8Array.of(1, 2));
      out.write(Uint8Array.of(3));
      out.section('b', Uint8Array.of(9));
      out.finish();
    });
    expect([...open(bytes).whole('a')]).toEqual([1, 2, 3]);
    expect([...open(bytes).slice('b', 0, 1)]).toEqual([9]);
  });

  it('names the version that it does not know', () => {
    const bytes = fileOf({});
    bytes[4] = 4;
    expect(() => open(bytes)).toThrow('test: byte 4: expected version 3, got 4');
  });

  it('does not read beyond a section', () => {
    expect(() => open(fileOf({ a: Uint8Array.of(1, 2), b: Uint8Array.of(3) })).slice('a', 1, 2)).toThrow(
      IndexFormatError,
    );
    expect(() => open(fileOf({})).whole('a')).toThrow('the section "a" is missing');
  });
});
