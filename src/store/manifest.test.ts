import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IndexFormatError } from '../core/index.ts';
import { formatManifest, type Manifest, numLiveDocs, parseManifest } from './manifest.ts';

const MANIFEST: Manifest = {
  formatVersion: 1,
  generation: 7,
  kind: 'sparse',
  model: { identity: 'abc', name: 'model' },
  scale: 0.0123,
  fields: { lang: 'keyword' },
  storeVectors: false,
  bm25: null,
  querySide: { sizeBytes: 3, crc32: 4_000_000_000 },
  segments: [
    {
      name: '3',
      numDocs: 10,
      numPostings: 100,
      numDeleted: 2,
      files: { postings: { sizeBytes: 1, crc32: 2 }, documents: { sizeBytes: 3, crc32: 4 } },
      tombstones: { name: '3.7.deleted', sizeBytes: 22, crc32: 5 },
    },
  ],
  nextSegment: 4,
  log: 6,
  userState: { done: 12, '7': 'x', nested: [null, 1.5] },
};

describe('a manifest', () => {
  it('is the same after its file, with any state of the caller', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (userState) => {
        const manifest = { ...MANIFEST, userState: JSON.parse(JSON.stringify(userState)) };
        expect(parseManifest(formatManifest(manifest), 'm')).toEqual(manifest);
      }),
      { examples: [[JSON.parse('{"__proto__":{"a":1}}')]] },
    );
  });

  it('with any flipped bit is refused', () => {
    const sound = Buffer.from(formatManifest(MANIFEST));
    for (let bit = 0; bit < 8 * (sound.length - 1); bit++) {
      const flipped = Buffer.from(sound);
      flipped[bit >> 3] ^= 1 << (bit & 7);
      expect(() => parseManifest(flipped.toString('utf8'), 'm')).toThrow(IndexFormatError);
    }
  });

  it('of another version is refused for that reason, whatever else is new in it', () => {
    const text = JSON.stringify({ checksum: '00000000', manifest: { formatVersion: 2, shards: [] } });
    expect(() => parseManifest(text, 'm')).toThrow('m: expected format version 1, got 2');
  });

  it('that is not JSON, or something else, says so', () => {
    expect(() => parseManifest('{', 'm')).toThrow('m: not JSON');
    expect(() => parseManifest('[]', 'm')).toThrow(IndexFormatError);
  });

  it('counts the documents that are not deleted', () => {
    expect(numLiveDocs(MANIFEST)).toBe(8);
  });
});
