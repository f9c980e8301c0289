import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { loadModel } from '../model/index.ts';
import { featureOfToken, propertyOfField, tokenOfFeature } from './names.ts';

const HOSTILE = [
  '.',
  '...',
  '##.',
  'a.b',
  '',
  '%%',
  '%%a',
  '%',
  '"',
  '\\',
  '\u0000',
  '\u001b[2J',
  '\ud800',
  '\udc00x',
  '😀',
  '本',
  ' ',
];

describe('names of tokens', () => {
  it.each(HOSTILE)('%j is written so that it can be read again, without dots and controls', (token) => {
    const feature = featureOfToken(token);
    expect(tokenOfFeature(feature)).toBe(token);
    expect(feature).not.toMatch(/[.\p{Cc}\p{Cs}]/u);
    expect(feature).not.toBe('');
  });

  test.prop([fc.string({ unit: 'binary' })])(
    'tokenOfFeature(featureOfToken(t)) = t for any units of UTF-16',
    (token) => {
      expect(tokenOfFeature(featureOfToken(token))).toBe(token);
    },
  );

  test.prop([fc.string(), fc.string()])('no two tokens get one name', (a, b) => {
    if (a !== b) expect(featureOfToken(a)).not.toBe(featureOfToken(b));
  });

  it("of BERT's tokens only those with a dot are renamed", async () => {
    const model = await loadModel('bow');
    const renamed = model.tokenizer.vocabulary.tokens.filter((token) => featureOfToken(token) !== token);
    expect(renamed.every((token) => token.includes('.'))).toBe(true);
    expect(renamed).toContain('.');
  });
});

describe('names of declared fields', () => {
  it('dots, quotes, spaces and unicode become plain characters', () => {
    expect(propertyOfField('lang')).toBe('lang');
    for (const name of ['a.b', 'a"b', 'a b', 'straße', '\u0000', '%%x'])
      expect(propertyOfField(name)).toMatch(/^%%[%\w-]*$/);
    expect(propertyOfField('a.b')).not.toBe(propertyOfField('a_b'));
  });
});
