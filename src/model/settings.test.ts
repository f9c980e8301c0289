import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../core/index.ts';
import { ACTIVATIONS } from './activation.ts';
import { BAG_OF_WORDS } from './embedded-model.ts';
import { type BertSettings, formatSettings, type OnnxSettings, parseSettings } from './settings.ts';

const settings: BertSettings = {
  format: 1,
  kind: 'bert',
  name: 'tiny',
  activation: 'l0',
  encodeLength: 256,
  prune: { rule: 'ratio', ratio: 0.1 },
  specialTokens: 'drop',
  idf: 'idf.json',
  source: 'a test',
};

const onnx: OnnxSettings = {
  ...settings,
  kind: 'onnx',
  file: 'onnx/model.onnx',
  output: { name: 'logits', form: 'logits' },
};

describe('lzero.json of an ONNX model', () => {
  it('comes back as it was written, also where queries are to be encoded', () => {
    for (const written of [
      onnx,
      { ...onnx, output: { form: 'weights' as const } },
      { ...onnx, queries: 'encoded' as const },
    ])
      expect(parseSettings(formatSettings(written), 'lzero.json')).toEqual(written);
  });

  it.each(['../model.onnx', '/model.onnx', 'a//model.onnx', 'model.bin', '', 'a\\model.onnx', '.onnx'])(
    'may not name the file %j',
    (file) => {
      expect(() => parseSettings(JSON.stringify({ ...onnx, file }), 'lzero.json')).toThrow('file: ');
    },
  );

  it('says what its output is', () => {
    const parse = (output: unknown) => parseSettings(JSON.stringify({ ...onnx, output }), 'lzero.json');
    expect(() => parse({ form: 'probabilities' })).toThrow('output.form');
    expect(() => parse(undefined)).toThrow('output');
  });
});

describe('lzero.json', () => {
  it('of the embedded model is read', () => {
    expect(parseSettings(readFileSync(join(BAG_OF_WORDS, 'lzero.json'), 'utf8'), 'lzero.json').kind).toBe('bow');
  });

  test.prop([fc.constantFrom(...ACTIVATIONS), fc.integer({ min: 3, max: 8192 }), fc.string({ minLength: 1 })])(
    'comes back as it was written',
    (activation, encodeLength, name) => {
      const written = { ...settings, activation, encodeLength, name };
      expect(parseSettings(formatSettings(written), 'lzero.json')).toEqual(written);
    },
  );

  const bad: [string, Readonly<Record<string, unknown>>, string][] = [
    ['an unknown key', { activaton: 'l0' }, 'activaton'],
    ['an unknown activation', { activation: 'l0-4' }, 'activation'],
    ['a missing activation', { activation: undefined }, 'activation'],
    ['a length that holds no token', { encodeLength: 2 }, 'encodeLength'],
    ['a broken length', { encodeLength: 12.5 }, 'encodeLength'],
    ['special tokens kept', { specialTokens: 'keep' }, 'specialTokens'],
    ['a prune rule without its number', { prune: { rule: 'ratio' } }, 'prune.ratio'],
    ['a prune rule out of range', { prune: { rule: 'mass', mass: 0 } }, 'prune.mass'],
    ['an unknown prune rule', { prune: { rule: 'best' } }, 'prune'],
    ['a path as IDF', { idf: '../idf.json' }, 'idf'],
    ['a later format', { format: 2 }, 'format'],
    ['an unknown kind', { kind: 'gpt' }, 'kind'],
    ['queries of another way', { queries: 'guessed' }, 'queries'],
  ];
  it.each(bad)('with %s is refused, and the file and key are named', (_, changes, named) => {
    const parse = () => parseSettings(JSON.stringify({ ...settings, ...changes }), 'model/lzero.json');
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow('model/lzero.json');
    expect(parse).toThrow(named);
  });

  test.prop([fc.string()])('that is any text is read or refused, never anything else', (text) => {
    expect(() => parseSettings(text, 'lzero.json')).toThrow(ConfigError);
  });
});
