import { readFileSync } from 'node:fs';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { CheckpointError } from '../core/index.ts';
import { parseBertConfig } from './bert-config.ts';

const text = readFileSync(`${goldenFolder('half')}/config.json`, 'utf8');
const changed = (changes: Readonly<Record<string, unknown>>) => JSON.stringify({ ...JSON.parse(text), ...changes });

describe('config.json', () => {
  it('gives the sizes that transformers wrote', () => {
    expect(parseBertConfig(text, 'config.json')).toEqual({
      vocabSize: 277,
      hiddenSize: 32,
      numLayers: 3,
      numHeads: 2,
      intermediateSize: 40,
      maxPositions: 512,
      numTypes: 2,
      layerNormEpsilon: 1e-5,
    });
  });

  it('takes transformers’ defaults where old checkpoints say nothing', () => {
    const bare = changed({ layer_norm_eps: undefined, hidden_act: undefined, type_vocab_size: undefined });
    expect(parseBertConfig(bare, 'config.json')).toMatchObject({ layerNormEpsilon: 1e-12, numTypes: 2 });
  });

  it.each([
    ['gelu_python', undefined],
    ['gelu_new', 'gelu-tanh'],
    ['gelu_fast', 'gelu-tanh'],
    ['gelu_pytorch_tanh', 'gelu-tanh'],
    ['relu', 'relu'],
  ])('calls transformers’ %s %s', (name, hiddenActivation) => {
    expect(parseBertConfig(changed({ hidden_act: name }), 'config.json').hiddenActivation).toBe(hiddenActivation);
  });

  it('says where the decoder must not be the word embeddings', () => {
    expect(parseBertConfig(changed({ tie_word_embeddings: false }), 'config.json').decoder).toBe('untied');
    expect(parseBertConfig(text, 'config.json').decoder).toBeUndefined();
  });

  const bad: [string, Readonly<Record<string, unknown>>, string][] = [
    ['another architecture', { model_type: 'roberta' }, 'model_type'],
    ['another activation', { hidden_act: 'quick_gelu' }, 'hidden_act'],
    ['a decoder, which sees only what stands before a token', { is_decoder: true }, 'is_decoder'],
    ['relative positions', { position_embedding_type: 'relative_key' }, 'position_embedding_type'],
    ['heads that do not divide the hidden size', { num_attention_heads: 5 }, 'not a multiple of num_attention_heads 5'],
    ['no layers', { num_hidden_layers: 0 }, 'num_hidden_layers'],
    ['no token types', { type_vocab_size: 0 }, 'type_vocab_size'],
    ['a missing size', { vocab_size: undefined }, 'vocab_size'],
    ['a negative size', { hidden_size: -32 }, 'hidden_size'],
    ['a size in words', { hidden_size: '32' }, 'hidden_size'],
    ['a size beyond reason', { vocab_size: 1e12 }, 'vocab_size'],
    ['half a layer', { num_hidden_layers: 1.5 }, 'num_hidden_layers'],
    ['an ε of 0', { layer_norm_eps: 0 }, 'layer_norm_eps'],
  ];
  it.each(bad)('with %s is refused, and the file and key are named', (_, changes, named) => {
    const parse = () => parseBertConfig(changed(changes), 'folder/config.json');
    expect(parse).toThrow(CheckpointError);
    expect(parse).toThrow('folder/config.json');
    expect(parse).toThrow(named);
  });

  it.each(['', '{', '[]', 'null', '3', text.slice(0, 100)])('that is %j is refused', (broken) => {
    expect(() => parseBertConfig(broken, 'config.json')).toThrow(CheckpointError);
  });

  test.prop([fc.dictionary(fc.constantFrom(...Object.keys(JSON.parse(text))), fc.jsonValue())])(
    'with any values gives sizes that fit together, or CheckpointError',
    (changes) => {
      try {
        const { hiddenSize, numHeads } = parseBertConfig(changed(changes), 'config.json');
        expect(hiddenSize % numHeads).toBe(0);
      } catch (error) {
        expect(error).toBeInstanceOf(CheckpointError);
      }
    },
  );
});

describe('config.json of DistilBERT', () => {
  const distil = {
    model_type: 'distilbert',
    vocab_size: 200,
    dim: 32,
    n_layers: 2,
    n_heads: 4,
    hidden_dim: 48,
    max_position_embeddings: 64,
    activation: 'gelu',
    sinusoidal_pos_embds: false,
    tie_weights_: true,
  };
  const parse = (changes: Readonly<Record<string, unknown>> = {}) =>
    parseBertConfig(JSON.stringify({ ...distil, ...changes }), 'folder/config.json');

  it('gives the sizes of a BERT without token types, and the ε that transformers fixes', () => {
    expect(parse({ layer_norm_eps: 1e-5 })).toEqual({
      vocabSize: 200,
      hiddenSize: 32,
      numLayers: 2,
      numHeads: 4,
      intermediateSize: 48,
      maxPositions: 64,
      numTypes: 0,
      layerNormEpsilon: 1e-12,
      family: 'distilbert',
    });
  });

  it('names its activation with a word of its own', () => {
    expect(parse({ activation: 'relu' }).hiddenActivation).toBe('relu');
  });

  const bad: [string, Readonly<Record<string, unknown>>, string][] = [
    ['a missing size', { dim: undefined }, 'dim'],
    ['heads that do not divide the hidden size', { n_heads: 5 }, 'dim 32 is not a multiple of n_heads 5'],
    ['another activation', { activation: 'silu' }, 'activation'],
    ['BERT’s words for its sizes', { n_layers: undefined, num_hidden_layers: 2 }, 'n_layers'],
  ];
  it.each(bad)('with %s is refused, and the file and key are named', (_, changes, named) => {
    expect(() => parse(changes)).toThrow(CheckpointError);
    expect(() => parse(changes)).toThrow('folder/config.json');
    expect(() => parse(changes)).toThrow(named);
  });
});
