import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { CheckpointError } from '../core/index.ts';
import { distilBertName, isKnownToOthers, nameForOthers, namesInFile, usualName } from './tensor-names.ts';

const LAYER = 'bert.encoder.layer.11';

describe('names of BERT', () => {
  it.each([
    ['bert.embeddings.LayerNorm.gamma', 'bert.embeddings.LayerNorm.weight'],
    [`${LAYER}.output.LayerNorm.beta`, `${LAYER}.output.LayerNorm.bias`],
    ['cls.predictions.transform.LayerNorm.gamma', 'cls.predictions.transform.LayerNorm.weight'],
    ['encoder.layer.11.output.dense.weight', `${LAYER}.output.dense.weight`],
    ['embeddings.word_embeddings.weight', 'bert.embeddings.word_embeddings.weight'],
    ['module.bert.encoder.layer.11.output.dense.weight', `${LAYER}.output.dense.weight`],
    ['model.embeddings.LayerNorm.bias', 'bert.embeddings.LayerNorm.bias'],
    ['0.auto_model.bert.embeddings.token_type_embeddings.weight', 'bert.embeddings.token_type_embeddings.weight'],
    ['transformer.cls.predictions.decoder.weight', 'cls.predictions.decoder.weight'],
    ['auto_model.cls.predictions.bias', 'cls.predictions.bias'],
  ])('%s is %s', (name, usual) => {
    expect(usualName(name)).toBe(usual);
  });
});

describe('names of DistilBERT', () => {
  const PAIRS = [
    ['distilbert.embeddings.position_embeddings.weight', 'bert.embeddings.position_embeddings.weight'],
    ['distilbert.embeddings.LayerNorm.bias', 'bert.embeddings.LayerNorm.bias'],
    ['distilbert.transformer.layer.11.attention.q_lin.weight', `${LAYER}.attention.self.query.weight`],
    ['distilbert.transformer.layer.11.attention.k_lin.bias', `${LAYER}.attention.self.key.bias`],
    ['distilbert.transformer.layer.11.attention.v_lin.weight', `${LAYER}.attention.self.value.weight`],
    ['distilbert.transformer.layer.11.attention.out_lin.bias', `${LAYER}.attention.output.dense.bias`],
    ['distilbert.transformer.layer.11.sa_layer_norm.weight', `${LAYER}.attention.output.LayerNorm.weight`],
    ['distilbert.transformer.layer.11.ffn.lin1.weight', `${LAYER}.intermediate.dense.weight`],
    ['distilbert.transformer.layer.11.ffn.lin2.bias', `${LAYER}.output.dense.bias`],
    ['distilbert.transformer.layer.11.output_layer_norm.bias', `${LAYER}.output.LayerNorm.bias`],
    ['vocab_transform.weight', 'cls.predictions.transform.dense.weight'],
    ['vocab_layer_norm.bias', 'cls.predictions.transform.LayerNorm.bias'],
    ['vocab_projector.weight', 'cls.predictions.decoder.weight'],
    ['vocab_projector.bias', 'cls.predictions.bias'],
  ];
  it.each(PAIRS)('%s is %s', (name, usual) => {
    expect(usualName(name)).toBe(usual);
  });

  it.each(PAIRS)('%s is what a file for others calls %s; BERT keeps its name', (name, usual) => {
    expect(distilBertName(usual)).toBe(name);
    expect(nameForOthers(usual, { family: 'distilbert' })).toBe(name);
    expect(nameForOthers(usual, {})).toBe(usual);
  });

  it.each([
    ['transformer.layer.0.ffn.lin1.bias', 'bert.encoder.layer.0.intermediate.dense.bias'],
    ['module.distilbert.transformer.layer.0.ffn.lin1.bias', 'bert.encoder.layer.0.intermediate.dense.bias'],
    ['model.vocab_projector.bias', 'cls.predictions.bias'],
    ['transformer.layer.0.ffn.lin3.weight', 'bert.encoder.layer.0.ffn.lin3.weight'],
    ['transformer.layer.0.ffn.lin1.lora_A.weight', 'bert.encoder.layer.0.intermediate.dense.lora_A.weight'],
  ])('%s, saved alone, wrapped or unknown to it, is %s', (name, usual) => {
    expect(usualName(name)).toBe(usual);
  });
});

describe('other names', () => {
  it.each([
    'lzero.tied_head.bias',
    'bert.pooler.dense.weight',
    'bert.embeddings.position_ids',
    'cls.seq_relationship.weight',
    'vocab_projector.weight.extra',
    'constructor',
  ])('%s stays', (name) => {
    expect(usualName(name)).toBe(name);
  });

  it('a hostile name of a megabyte is given back at once', () => {
    const name = 'transformer.layer.0.'.repeat(50_000);
    const begin = performance.now();
    expect(usualName(name)).toBe(name);
    expect(performance.now() - begin).toBeLessThan(100);
  });

  test.prop([fc.array(fc.constantFrom('bert', 'encoder', 'layer', '0', 'embeddings', 'cls', 'predictions', 'x', ''))])(
    'the usual name of a usual name is itself',
    (words) => {
      const usual = usualName(words.join('.'));
      expect(usualName(usual)).toBe(usual);
    },
  );
});

describe('names that transformers reads', () => {
  const WORDS = 'bert.embeddings.word_embeddings.weight';
  const NORM = 'bert.embeddings.LayerNorm.weight';
  const LIN1 = 'bert.encoder.layer.0.intermediate.dense.bias';

  it.each([
    ['bert', WORDS, WORDS, true],
    ['bert', 'embeddings.word_embeddings.weight', WORDS, true],
    ['bert', `bert.${WORDS}`, WORDS, true],
    ['bert', 'embeddings.LayerNorm.gamma', NORM, true],
    ['bert', `module.${WORDS}`, WORDS, false],
    ['bert', `0.auto_model.${WORDS}`, WORDS, false],
    ['bert', 'model.cls.predictions.bias', 'cls.predictions.bias', false],
    ['distilbert', 'distilbert.transformer.layer.0.ffn.lin1.bias', LIN1, true],
    ['distilbert', 'transformer.layer.0.ffn.lin1.bias', LIN1, true],
    ['distilbert', 'vocab_projector.bias', 'cls.predictions.bias', true],
    ['distilbert', WORDS, WORDS, false],
  ] as const)('of %s: %s as %s: %s', (family, stored, usual, expected) => {
    expect(isKnownToOthers(stored, usual, family === 'bert' ? {} : { family })).toBe(expected);
  });
});

describe('the names of a file', () => {
  it('are found by their usual ones', () => {
    const names = namesInFile(['embeddings.LayerNorm.gamma', 'pooler.dense.bias'], 'model.safetensors');
    expect(Object.fromEntries(names)).toEqual({
      'bert.embeddings.LayerNorm.weight': 'embeddings.LayerNorm.gamma',
      'pooler.dense.bias': 'pooler.dense.bias',
    });
  });

  it('with two networks are refused, and both names are told', () => {
    const both = ['query.embeddings.LayerNorm.weight', 'document.embeddings.LayerNorm.weight'];
    expect(() => namesInFile(both, 'model.safetensors')).toThrow(CheckpointError);
    for (const name of both) expect(() => namesInFile(both, 'model.safetensors')).toThrow(name);
  });
});
