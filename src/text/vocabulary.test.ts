import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { bertVocabTxt } from '../../test/golden/text/fixtures.ts';
import { TokenizerError } from '../core/index.ts';
import { parseVocabTxt, Vocabulary, vocabularyFromIds } from './vocabulary.ts';

const SPECIALS = '[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n';

describe('parseVocabTxt', () => {
  it('numbers the lines from 0 and finds the special tokens', () => {
    const vocabulary = parseVocabTxt(`${SPECIALS}cat\r\n##s`, 'vocab.txt');
    expect(vocabulary.size).toBe(7);
    expect(vocabulary.idOf('cat')).toBe(5);
    expect(vocabulary.tokens[6]).toBe('##s');
    expect(vocabulary.idOf('dog')).toBeUndefined();
    expect([...vocabulary.specialIds]).toEqual([0, 1, 2, 3, 4]);
  });

  it('reads bert-base-uncased: 30,522 tokens, specials 0 and 100 to 103', () => {
    const vocabulary = parseVocabTxt(bertVocabTxt, 'vocab.txt');
    expect(vocabulary.size).toBe(30_522);
    expect([...vocabulary.specialIds]).toEqual([0, 100, 101, 102, 103]);
  });

  it.each([
    ['an empty line', `${SPECIALS}\ncat\n`, 'v: line 6 is empty'],
    ['a repeated token', `${SPECIALS}cat\ncat\n`, 'v: line 7 repeats the token "cat" of line 6'],
    ['a missing special token', '[PAD]\n[UNK]\n[CLS]\n[SEP]\ncat\n', 'v: the special token "[MASK]" is missing'],
    ['nothing', '', 'v: the special token "[PAD]" is missing'],
  ])('refuses %s', (_, text, message) => {
    expect(() => parseVocabTxt(text, 'v')).toThrow(TokenizerError);
    expect(() => parseVocabTxt(text, 'v')).toThrow(message);
  });

  it('refuses more than a million lines', () => {
    const lines = Array.from({ length: 1_000_001 }, (_, i) => i).join('\n');
    expect(() => parseVocabTxt(lines, 'v')).toThrow('v: more than 1000000 lines');
  });

  test.prop([fc.string({ unit: 'binary', maxLength: 300 })])(
    'gives a vocabulary or a TokenizerError for any text',
    (text) => {
      try {
        expect(parseVocabTxt(SPECIALS + text, 'v').size).toBeGreaterThanOrEqual(5);
      } catch (error) {
        expect(error).toBeInstanceOf(TokenizerError);
      }
    },
  );
});

describe('vocabularyFromIds', () => {
  it.each([
    [
      'a hole',
      [
        ['a', 0],
        ['b', 2],
      ],
      'id 1 has no token',
    ],
    [
      'two tokens of one id',
      [
        ['a', 0],
        ['b', 0],
      ],
      'id 0 has two tokens, "a" and "b"',
    ],
    [
      'two ids of one token',
      [
        ['a', 0],
        ['a', 1],
      ],
      'token "a" has two ids, 0 and 1',
    ],
    ['a negative id', [['a', -1]], '["a"]: expected an id from 0'],
    ['a broken id', [['a', 0.5]], '["a"]: expected an id from 0'],
    ['an id that is text', [['a', '0']], '["a"]: expected an id from 0'],
    ['an id that no text can be made of (found by fuzzing)', [['a', { toString: 1 }]], '["a"]: expected an id from 0'],
    ['an id beyond all vocabularies', [['a', 4e9]], '["a"]: expected an id from 0'],
  ] as const)('refuses %s', (_, entries, message) => {
    expect(() => vocabularyFromIds(entries, [], 'v')).toThrow(TokenizerError);
    expect(() => vocabularyFromIds(entries, [], 'v')).toThrow(message);
  });

  it('takes pairs in any order, and a pair twice', () => {
    const entries = [
      ['b', 1],
      ['a', 0],
      ['b', 1],
    ] as const;
    expect(vocabularyFromIds(entries, ['a'], 'v').equals(new Vocabulary(['a', 'b'], ['a'], 'v'))).toBe(true);
  });
});

describe('Vocabulary.equals', () => {
  const vocabulary = new Vocabulary(['a', 'b'], ['a'], 'v');
  it.each([
    [['a', 'c'], ['a']],
    [['a', 'b'], ['b']],
    [['a', 'b', 'c'], ['a']],
    [['a', 'b'], []],
  ])('is false for tokens %j with specials %j', (tokens, specials) => {
    expect(vocabulary.equals(new Vocabulary(tokens, specials, 'v'))).toBe(false);
  });
});
