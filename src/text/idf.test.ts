import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  bertVocabTxt,
  needsSharedData,
  readShared,
  sharedData,
  tinyTokenizer,
} from '../../test/golden/text/fixtures.ts';
import { IdfError, ShapeError } from '../core/index.ts';
import { blendIdf, formatIdf, IdfCounter, noIdf, parseIdf } from './idf.ts';
import { parseVocabTxt } from './vocabulary.ts';

const tokenizer = tinyTokenizer();
const { vocabulary } = tokenizer;
const id = (token: string): number => vocabulary.idOf(token) ?? -1;
const float32 = fc.float({ noNaN: true, noDefaultInfinity: true });
const anyTable = fc
  .array(float32, { minLength: vocabulary.size, maxLength: vocabulary.size })
  .map((values) => ({ values: Float32Array.from(values) }));

describe('parseIdf', () => {
  it('reads weights, negative ones too, and gives 1 to tokens that the file does not name', () => {
    const { values } = parseIdf('{"cat": 2.5, "sat": -0.25}', vocabulary, 'idf.json');
    expect([values[id('cat')], values[id('sat')], values[id('the')]]).toEqual([2.5, -0.25, 1]);
  });

  it.each([
    ['cut JSON', '{"cat": 2', 'f: not JSON'],
    ['NaN', '{"cat": NaN}', 'f: not JSON'],
    ['a list', '[1]', 'f: expected an object'],
    ['null', 'null', 'f: expected an object'],
    ['a token named twice', '{"cat": 1, "cat": 2}', 'f: a token occurs twice'],
    ['an unknown token', '{"cat": 1, "dog": 2}', 'f: the token "dog" is not in the vocabulary'],
    ['text for a number', '{"cat": "2"}', 'f: "cat": expected a finite number, got "2"'],
    ['infinity', '{"cat": 1e999}', 'f: "cat": expected a finite number'],
    ['more than a 32-bit float holds', '{"cat": 1e39}', 'f: "cat": expected a finite number'],
  ])('refuses %s', (_, text, message) => {
    expect(() => parseIdf(text, vocabulary, 'f')).toThrow(IdfError);
    const expected = { message: expect.stringContaining(message), hint: expect.any(String) };
    expect(() => parseIdf(text, vocabulary, 'f')).toThrow(expect.objectContaining(expected));
  });

  test.prop([fc.oneof(fc.string(), fc.json())])('gives a table or an IdfError for any text', (text) => {
    try {
      expect(parseIdf(text, vocabulary, 'f').values.every(Number.isFinite)).toBe(true);
    } catch (error) {
      expect(error).toBeInstanceOf(IdfError);
    }
  });

  test.prop([anyTable])('reads exactly the weights that formatIdf wrote, to the bit', (table) => {
    const { values } = parseIdf(formatIdf(table, vocabulary), vocabulary, 'f');
    expect(values.every((value, j) => Object.is(value, table.values[j]))).toBe(true);
  });

  it('refuses to write a table of another size', () => {
    expect(() => formatIdf({ values: new Float32Array(3) }, vocabulary)).toThrow(ShapeError);
  });
});

describe('IdfCounter', () => {
  it('counts documents that hold a token, not its occurrences, and no special tokens', () => {
    const counter = new IdfCounter(tokenizer);
    counter.add('the cat, the cats');
    counter.add('the [MASK] dog');
    counter.addIds([id('sat'), id('[CLS]'), id('sat')]);
    const df = counter.documentFrequencies();
    expect([df[id('the')], df[id('cat')], df[id('sat')], df[id('[MASK]')], df[id('[UNK]')]]).toEqual([2, 1, 1, 0, 0]);
    const { values } = counter.table();
    // N = 3: df 2 → ln(1 + 1.5/2.5), df 1 → ln(1 + 2.5/1.5), df 0 → ln(1 + 3.5/0.5)
    expect(values[id('the')]).toBeCloseTo(0.470004, 6);
    expect(values[id('cat')]).toBeCloseTo(0.980829, 6);
    expect(values[id('york')]).toBeCloseTo(2.079442, 6);
  });

  it('gives a token of one document among 8,841,823 the largest weight of the MS MARCO table, 15.58954', () => {
    const counter = new IdfCounter(tokenizer);
    counter.add('cat');
    while (counter.numDocs < 8_841_823) counter.addIds([]);
    expect(counter.table().values[id('cat')]).toBeCloseTo(15.58954, 4);
  });

  it('refuses an empty collection and ids outside the vocabulary', () => {
    const counter = new IdfCounter(tokenizer);
    expect(() => counter.table()).toThrow(IdfError);
    expect(() => counter.addIds([99])).toThrow(ShapeError);
    expect(() => counter.addIds([-1])).toThrow(ShapeError);
  });
});

describe('blendIdf and noIdf', () => {
  it('blends weight by weight', () => {
    const a = { values: Float32Array.of(0, 4) };
    const b = { values: Float32Array.of(2, 8) };
    expect(blendIdf(a, b, 0.25).values).toEqual(Float32Array.of(0.5, 5));
    expect(blendIdf(a, b, 0).values).toEqual(a.values);
    expect(blendIdf(a, b, 1).values).toEqual(b.values);
  });

  it('refuses shares outside 0 … 1 and tables of two sizes', () => {
    const one = { values: Float32Array.of(1) };
    for (const share of [-0.1, 1.1, Number.NaN]) expect(() => blendIdf(one, one, share)).toThrow(IdfError);
    expect(() => blendIdf(one, { values: Float32Array.of(1, 2) }, 0.5)).toThrow(ShapeError);
  });

  it('noIdf weighs every token 1', () => {
    expect(new Set(noIdf(vocabulary).values)).toEqual(new Set([1]));
  });
});

describe.skipIf(!sharedData)(`parseIdf, ${needsSharedData}`, () => {
  it('reads the MS MARCO table: "." 0.01605, "the" 0.1353, "what" 2.7699, largest 15.58954', () => {
    const bert = parseVocabTxt(bertVocabTxt, 'vocab.txt');
    const { values } = parseIdf(readShared('idf.json'), bert, 'idf.json');
    const of = (token: string): number => values[bert.idOf(token) ?? -1];
    expect(of('.')).toBeCloseTo(0.01605, 5);
    expect(of('the')).toBeCloseTo(0.1353, 4);
    expect(of('what')).toBeCloseTo(2.7699, 4);
    expect(values.reduce((a, b) => Math.max(a, b))).toBeCloseTo(15.58954, 4);
  });
});
