/** Weights by the formula: values written down, and those of the network. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { vectorsOf, writeTopicModel } from '../../test/lib/convert-models.ts';
import { meanStates } from './about-terms.ts';
import { Checkpoint } from './checkpoint.ts';
import { readModelFolder } from './model-folder.ts';
import { unitRows } from './pooled-matrix.ts';
import { openTopicHead, type TopicHead } from './topic-head.ts';
import { readDocuments, topicWeight, weightsOfTerm } from './topic-weights.ts';

it('adds the lexical part to log(1 + x) of a product x that is above the threshold of terms of the text, or of others', () => {
  const head: TopicHead = {
    terms: { data: Float32Array.of(3, 0), width: 2 },
    mean: Float32Array.of(0.5, 9),
    bias: Float32Array.of(-1),
    ownBias: Float32Array.of(0),
  };
  const weights = weightsOfTerm(head, 0, {
    activation: 'relu',
    states: { data: Float32Array.of(1, 0, 0.75, 0, 0.75, 0, 0, 0), width: 2 },
    inText: [new Set(), new Set(), new Set([0]), new Set([0])],
    lexicalParts: [new Map(), new Map([[0, 0.25]]), new Map(), new Map([[0, 0.5]])],
  });
  // (t − t̄)·(s·c) = 1.5, 0.75, 0.75 and −1.5: above 1, below it, above 0 in the text, and nothing.
  [Math.log(2.5), 0.25, Math.log(1.75), 0.5].forEach((value, d) => {
    expect(weights[d]).toBeCloseTo(value, 6);
  });
});

it('begins at the threshold with ten times what is above it', () => {
  // min(1.05, 10·(1.05 − 1)) = 0.5
  expect(topicWeight(1.05, -1, 'relu')).toBeCloseTo(Math.log(1.5), 6);
  expect(topicWeight(-1, 5, 'relu')).toBe(0);
});

it('gives the weights of the network within 1e-4', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lzero-topic-weights-'));
  try {
    await writeTopicModel(folder);
    const texts = ['the old bridge over the river', 'bread and yeast', 'a bird on the bridge'];
    const model = await readModelFolder(folder, { idf: 'none' });
    const { settings, tokenizer } = model;
    if (settings.kind !== 'bert') throw new Error('bug: the model has a network');
    const checkpoint = await Checkpoint.open(folder);
    const read = texts.map((text) => tokenizer.encodeForModel(text, settings.encodeLength).ids);
    const states = unitRows(await meanStates(checkpoint, read));
    await checkpoint.close();
    const head = await openTopicHead(folder);
    const documents = readDocuments({ ...model, settings }, texts, states);
    const vectors = await vectorsOf({ folder, options: { idf: 'none' } }, texts);
    let numActive = 0;
    for (let term = 0; term < tokenizer.vocabulary.size; term++)
      weightsOfTerm(head, term, documents).forEach((weight, d) => {
        if (tokenizer.vocabulary.specialIds.has(term)) return;
        expect(Math.abs(weight - (vectors[d].get(term) ?? 0))).toBeLessThan(1e-4);
        if (weight > 0) numActive++;
      });
    expect(numActive).toBeGreaterThan(30);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
