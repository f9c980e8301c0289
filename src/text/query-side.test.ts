import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  bertVocabTxt,
  needsSharedData,
  readShared,
  sharedData,
  TINY_TOKENS,
  tinyTokenizer,
  tokenizerJson,
} from '../../test/golden/text/fixtures.ts';
import { crc32, IdfError, LzeroError, ShapeError, TokenizerError } from '../core/index.ts';
import { createTokenizer } from './create-tokenizer.ts';
import { type IdfTable, noIdf, parseIdf } from './idf.ts';
import { encodeQuery } from './query.ts';
import { decodeQuerySide, encodeQuerySide, type Numbering, renumber } from './query-side.ts';
import { Vocabulary } from './vocabulary.ts';

const NUMBERINGS: readonly Numbering[] = ['vocabulary', 'sorted'];
const tokenizer = tinyTokenizer();
const size = tokenizer.vocabulary.size;
const idf: IdfTable = { values: Float32Array.from({ length: size }, (_, id) => id / 3 - 1) };
const anyIdf = fc
  .array(fc.float({ noNaN: true, min: -20, max: 20 }), { minLength: size, maxLength: size })
  .map((values) => ({ values: Float32Array.from(values) }));

/** Bytes with a right checksum, so that what follows is what fails. */
function resealed(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  new DataView(copy.buffer).setUint32(6, crc32(copy.subarray(10)), true);
  return copy;
}

describe('query side', () => {
  it('keeps vocabulary, settings, roles and frame', () => {
    const decoded = decodeQuerySide(encodeQuerySide({ tokenizer, idf }));
    expect(decoded.numbering).toBe('vocabulary');
    expect(decoded.tokenizer.vocabulary.equals(tokenizer.vocabulary)).toBe(true);
    expect(decoded.tokenizer.wordPiece).toEqual(tokenizer.wordPiece);
    expect(decoded.tokenizer.frame).toEqual(tokenizer.frame);
    expect(decoded.tokenizer.encode('The cats [MASK]')).toEqual(tokenizer.encode('The cats [MASK]'));
  });

  it('reads a view into larger bytes, at any place, as files come', () => {
    const bytes = encodeQuerySide({ tokenizer, idf });
    const larger = new Uint8Array(bytes.length + 3);
    larger.set(bytes, 3);
    class Unsliced extends Uint8Array {
      // Buffer of Node has the same: its slice is a view.
      override slice(start?: number, end?: number) {
        return this.subarray(start, end);
      }
    }
    const view = new Unsliced(larger.buffer, 3);
    expect(decodeQuerySide(view).idf).toEqual(decodeQuerySide(bytes).idf);
  });

  it('numbers terms by sorted token if asked, and renumber translates', () => {
    const decoded = decodeQuerySide(
      encodeQuerySide({ tokenizer, idf: noIdf(tokenizer.vocabulary) }, { numbering: 'sorted' }),
    );
    expect(decoded.numbering).toBe('sorted');
    expect(decoded.tokenizer.vocabulary.tokens).toEqual([...TINY_TOKENS].sort());
    const newIds = renumber(tokenizer.vocabulary, decoded.tokenizer.vocabulary);
    expect(decoded.tokenizer.encode('the cats [SEP]')).toEqual(
      tokenizer.encode('the cats [SEP]').map((id) => newIds[id]),
    );
    expect(decoded.tokenizer.vocabulary.specialIds).toEqual(
      new Set([...tokenizer.vocabulary.specialIds].map((id) => newIds[id])),
    );
    const other = new Vocabulary(['the'], [], 'other');
    expect(() => renumber(tokenizer.vocabulary, other)).toThrow(TokenizerError);
  });

  test.prop([anyIdf, fc.constantFrom(...NUMBERINGS)])(
    'weights are within half a step of relu(idf), zero stays zero, positive stays positive',
    (table, numbering) => {
      const decoded = decodeQuerySide(encodeQuerySide({ tokenizer, idf: table }, { numbering }));
      const newIds = renumber(tokenizer.vocabulary, decoded.tokenizer.vocabulary);
      const positive = table.values.filter((value) => value > 0);
      const halfStep = positive.length > 0 ? (Math.max(...positive) - Math.min(...positive)) / 508 : 0;
      table.values.forEach((value, id) => {
        const stored = decoded.idf.values[newIds[id]];
        expect(stored > 0).toBe(value > 0);
        expect(Math.abs(stored - Math.max(0, value))).toBeLessThanOrEqual(halfStep + 2e-6);
      });
    },
  );

  test.prop([anyIdf, fc.constantFrom(...NUMBERINGS)])(
    'decoding, encoding and decoding again changes no bit',
    (table, numbering) => {
      const once = decodeQuerySide(encodeQuerySide({ tokenizer, idf: table }, { numbering }));
      const twice = decodeQuerySide(encodeQuerySide(once, { numbering }));
      expect(twice.idf.values).toEqual(once.idf.values);
      expect(twice.tokenizer.vocabulary.equals(once.tokenizer.vocabulary)).toBe(true);
    },
  );

  it('holds long tokens, every script, a byte order mark and a line break', async () => {
    const tokens = [...TINY_TOKENS, 'x'.repeat(40), `${'x'.repeat(40)}y`, '\u{20000}', '한', '\ufeff', '\n'];
    const strange = await createTokenizer({ tokenizerJson: JSON.stringify(tokenizerJson(tokens)), label: 'm' });
    const bytes = encodeQuerySide({ tokenizer: strange, idf: noIdf(strange.vocabulary) });
    expect(decodeQuerySide(bytes).tokenizer.vocabulary.tokens).toEqual(tokens);
  });
});

describe('query side, bad input', () => {
  const bytes = encodeQuerySide({ tokenizer, idf });

  it('refuses a tokenizer of the library, a table of another size, a token that is not text', async () => {
    const json = JSON.stringify({ ...tokenizerJson(TINY_TOKENS), normalizer: { type: 'Lowercase' } });
    const other = await createTokenizer({ tokenizerJson: json, label: 'm' });
    expect(() => encodeQuerySide({ tokenizer: other, idf })).toThrow(TokenizerError);
    expect(() => encodeQuerySide({ tokenizer, idf: { values: new Float32Array(2) } })).toThrow(ShapeError);
    const broken = JSON.stringify(tokenizerJson([...TINY_TOKENS, '\ud800']));
    const surrogate = await createTokenizer({ tokenizerJson: broken, label: 'm' });
    expect(() => encodeQuerySide({ tokenizer: surrogate, idf: noIdf(surrogate.vocabulary) })).toThrow(TokenizerError);
  });

  it.each([
    ['nothing', new Uint8Array(0), 'q: byte 0: expected 4 more bytes'],
    ['another file', new TextEncoder().encode('PK\u0003\u0004 something'), 'q: byte 0: not a query side'],
    ['another version', bytes.with(4, 9), 'q: byte 4: expected version 1, got 9'],
    ['unknown flags', bytes.with(5, 0xff), 'q: byte 5: unknown flags 0xff'],
    ['a flipped bit', bytes.with(40, bytes[40] ^ 1), 'q: byte 6: checksum'],
    ['bytes that are left', resealed(Uint8Array.of(...bytes, 0)), 'expected the end, 1 bytes are left'],
    ['a missing end', resealed(bytes.subarray(0, -1)), `byte ${bytes.length - size}: expected ${size} more bytes`],
  ])('names the byte: %s', (_, broken, message) => {
    expect(() => decodeQuerySide(broken, 'q')).toThrow(IdfError);
    expect(() => decodeQuerySide(broken, 'q')).toThrow(message);
  });

  test.prop([fc.uint8Array({ maxLength: 300 })])('gives a named error for any bytes', (noise) => {
    expect(() => decodeQuerySide(noise)).toThrow(IdfError);
  });

  const damage = fc.array(fc.tuple(fc.nat({ max: bytes.length - 11 }), fc.integer({ min: 0, max: 255 })), {
    minLength: 1,
    maxLength: 4,
  });
  test.prop([damage, fc.nat({ max: bytes.length - 10 })], { numRuns: 2000 })(
    'gives a value or a named error for any damage under a right checksum',
    (changes, cut) => {
      const broken = bytes.slice(0, cut % 3 === 0 ? bytes.length - (cut % 40) : bytes.length);
      for (const [at, value] of changes) if (at + 10 < broken.length) broken[at + 10] = value;
      try {
        decodeQuerySide(resealed(broken)).tokenizer.encode('the cats sat');
      } catch (error) {
        expect(error).toBeInstanceOf(LzeroError);
      }
    },
  );
});

describe('query side of bert-base-uncased', () => {
  const gzipBytes = (bytes: Uint8Array): number => gzipSync(bytes, { level: 9 }).length;
  const shipped = readFileSync(resolve(import.meta.dirname, '../../models/bow/idf.json'), 'utf8');

  it('with the shipped IDF is at most 90 KB gzip, and decodes to the same bits when encoded again', async () => {
    const bert = await createTokenizer({ vocabTxt: bertVocabTxt, label: 'bert' });
    const table = parseIdf(shipped, bert.vocabulary, 'idf.json');
    const bytes = encodeQuerySide({ tokenizer: bert, idf: table }, { numbering: 'sorted' });
    expect(gzipBytes(bytes)).toBeLessThanOrEqual(90_000);
    expect(encodeQuerySide(decodeQuerySide(bytes), { numbering: 'sorted' })).toEqual(bytes);
  });

  it.skipIf(!sharedData)(
    `with the MS MARCO IDF is at most 90 KB gzip and 0.031 from each weight; ${needsSharedData}`,
    async () => {
      const bert = await createTokenizer({ vocabTxt: bertVocabTxt, label: 'bert' });
      const table = parseIdf(readShared('idf.json'), bert.vocabulary, 'idf.json');
      expect(gzipBytes(encodeQuerySide({ tokenizer: bert, idf: table }, { numbering: 'sorted' }))).toBeLessThanOrEqual(
        90_000,
      );
      const decoded = decodeQuerySide(encodeQuerySide({ tokenizer: bert, idf: table }));
      table.values.forEach((value, id) => {
        expect(Math.abs(decoded.idf.values[id] - value)).toBeLessThanOrEqual(0.031);
      });
      const { terms } = encodeQuery(decoded, 'weather in ny');
      expect(terms.map(({ token }) => token)).toEqual(['weather', 'in', 'ny']);
    },
  );
});

describe('crc32', () => {
  it('of "123456789" is 0xcbf43926, of nothing 0', () => {
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
    expect(crc32(new Uint8Array(0))).toBe(0);
  });
});
