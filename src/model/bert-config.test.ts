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

  const bad: [string, Readonly<Record<string, unknown>>, string][] = [
    ['another architecture', { model_type: 'roberta' }, 'model_type'],
    ['another activation', { hidden_act: 'gelu_new' }, 'hidden_act'],
    ['relative positions', { position_embedding_type: 'relative_key' }, 'position_embedding_type'],
    ['heads that do not divide the hidden size', { num_attention_heads: 5 }, 'not a multiple of num_attention_heads 5'],
    ['no layers', { num_hidden_layers: 0 }, 'num_hidden_layers'],
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
