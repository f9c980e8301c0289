/** Tiny random BERTs: our vectors are those of Hugging Face transformers (scripts/golden-model.py). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentGraph } from '../src/model/document-graph.ts';
import { GraphRunner } from '../src/model/graph-runner.ts';
import { ACTIVATIONS, Checkpoint, loadModel, type Model } from '../src/model/index.ts';
import { termBounds } from '../src/model/term-bounds.ts';
import { encodeAll, floatsOf, golden, goldenFolder, largestDifference } from './golden/model/fixtures.ts';

for (const { name, encodeLength, vectors } of golden.models) {
  describe(`golden model "${name}", vectors of transformers`, () => {
    for (const [k, activation] of ACTIVATIONS.entries()) {
      it(`k = ${k}: same active terms, weights within 1e-5, all texts in one stream`, async () => {
        const model = await loadModel(goldenFolder(name), { activation, idf: 'none' });
        expect(model.settings).toMatchObject({ activation, encodeLength });
        const encoded = await encodeAll(model, golden.texts);
        await model.close();
        vectors.forEach((expected, i) => {
          const { vector, numTokens, truncated } = encoded[i];
          expect({ numTokens, truncated }).toEqual({ numTokens: expected.numTokens, truncated: expected.truncated });
          expect([...vector.terms]).toEqual(expected.terms);
          expect(largestDifference(vector, expected.weights[k])).toBeLessThan(1e-5);
        });
      });
    }
  });
}

it('the golden texts are cut where a model has fewer positions than they have tokens', () => {
  const cut = golden.models.map(({ vectors }) => vectors.filter(({ truncated }) => truncated).length);
  expect(cut).toEqual([1, 1, 2]);
});

describe('one golden model, two ways', () => {
  let model: Model;
  beforeAll(async () => {
    model = await loadModel(goldenFolder('tied'), { idf: 'none' });
  });
  afterAll(() => model.close());

  it('a padded batch gives what one document after the other gives: same terms, within 1e-6', async () => {
    const together = await encodeAll(model, golden.texts);
    for (const [i, text] of golden.texts.entries()) {
      const [alone] = await encodeAll(model, [text]);
      expect(together[i].vector.terms).toEqual(alone.vector.terms);
      expect(largestDifference(together[i].vector, alone.vector.weights)).toBeLessThan(1e-6);
    }
  });

  it('the same stream twice gives the same bits', async () => {
    const [first, second] = [await encodeAll(model, golden.texts), await encodeAll(model, golden.texts)];
    expect(second).toEqual(first);
  });

  it('the filter gives the bits of the full product and computes fewer terms', async () => {
    const checkpoint = await Checkpoint.open(goldenFolder('tied'));
    const runner = await GraphRunner.start(checkpoint);
    const { vocabSize, hiddenSize } = checkpoint.config;
    const bounds = termBounds(await checkpoint.read(checkpoint.decoderName), hiddenSize);
    await runner.load(documentGraph(checkpoint, runner.parameters, bounds));
    const batch = golden.texts.map((text) => model.tokenizer.encodeForModel(text, 512).ids);
    const run = async (on: number) => {
      const { z, numComputed } = await runner.run(batch, {
        filter: { dtype: 'bool', dims: [], data: Uint8Array.of(on) },
      });
      return { z: floatsOf(z), numComputed: Array.from(numComputed.data, Number) };
    };
    const [filtered, full] = [await run(1), await run(0)];
    await runner.close();
    await checkpoint.close();
    expect(filtered.z).toEqual(full.z);
    expect(full.numComputed).toEqual(batch.map(() => vocabSize));
    filtered.numComputed.forEach((computed, b) => {
      const active = full.z.subarray(b * vocabSize, (b + 1) * vocabSize).filter((z) => z > 0).length;
      expect(computed).toBeGreaterThanOrEqual(active);
      expect(computed).toBeLessThan(vocabSize);
    });
  });
});
