import { describe, expect, it } from 'vitest';
import { documentWeights } from './document-weights.ts';

const rules = { activation: 'relu', prune: { rule: 'none' }, droppedTerms: new Set<number>(), numTerms: 5 } as const;
const row = Float32Array.of(1, 0, -2, 3, 0.5, 9);

describe('the weights of a document', () => {
  it('are log(1 + z) of the terms above 0; what fills the row up beyond the vocabulary is none', () => {
    const { terms, weights } = documentWeights(row, rules);
    expect([...terms]).toEqual([0, 3, 4]);
    expect(weights).toEqual(Float32Array.of(Math.log(2), Math.log(4), Math.log(1.5)));
  });

  it('are the numbers themselves where the network has activated them', () => {
    expect(documentWeights(row, { ...rules, activation: undefined }).weights).toEqual(Float32Array.of(1, 3, 0.5));
  });

  it('are without dropped terms, and pruned by what is left', () => {
    const prune = { rule: 'ratio', ratio: 0.6 } as const;
    const { terms } = documentWeights(row, { ...rules, activation: undefined, prune, droppedTerms: new Set([3]) });
    expect([...terms]).toEqual([0]); // 0.5 is not above 0.6 of 1; with term 3 it would be alone above 0.6 of 3
  });
});
