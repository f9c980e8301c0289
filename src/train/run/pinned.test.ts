/** Which documents are watched, and what is written of them. */
import { describe, expect, it } from 'vitest';
import { goldenFolder } from '../../../test/golden/model/fixtures.ts';
import { ConfigError } from '../../core/index.ts';
import { loadModel } from '../../model/index.ts';
import { choosePinned, pinnedTerms } from './pinned.ts';

const DOCUMENTS = Array.from({ length: 5 }, (_, i) => ({ id: `d${i}`, title: `title ${i}`, text: `text ${i}` }));

describe('choosePinned', () => {
  it('takes the first three documents, ids of documents, or texts', () => {
    expect(choosePinned(null, DOCUMENTS).map(({ id }) => id)).toEqual(['d0', 'd1', 'd2']);
    expect(choosePinned([], DOCUMENTS)).toEqual([]);
    expect(choosePinned(['d4', 'the old boat'], DOCUMENTS)).toEqual([
      { id: 'd4', text: 'title 4 text 4' },
      { id: '#2', text: 'the old boat' },
    ]);
  });

  it('takes no single word for a text: it is an id that nothing has', () => {
    expect(() => choosePinned(['d5'], DOCUMENTS)).toThrow(ConfigError);
    expect(() => choosePinned([' d5 '], DOCUMENTS)).toThrow(/no document .* " d5 "/);
  });
});

describe('pinnedTerms', () => {
  it('gives the 24 terms of the largest weights by their tokens, as encoding has them, and how a text begins', async () => {
    const model = await loadModel(goldenFolder('tied'), { idf: 'none' });
    try {
      const text = `the boat on the river ${'😀'.repeat(400)}`;
      const [boat] = await pinnedTerms(model, [{ id: 'a', text }]);
      expect([...boat.text].length).toBe(241);
      expect(boat.text).toMatch(/^the boat on the river 😀+…$/u);
      for await (const { vector } of model.encode([{ id: 'a', text }])) {
        expect(boat.numTerms).toBe(vector.terms.length);
        expect(boat.terms).toHaveLength(Math.min(24, boat.numTerms));
        const [[token, weight]] = boat.terms;
        expect(weight).toBeCloseTo(Math.max(...vector.weights), 3);
        const term = model.tokenizer.vocabulary.tokens.indexOf(token);
        expect(vector.weights[vector.terms.indexOf(term)]).toBe(Math.max(...vector.weights));
      }
    } finally {
      await model.close();
    }
  });
});
