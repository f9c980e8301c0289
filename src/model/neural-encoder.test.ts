import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asDocuments, collect, golden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { sparseVector } from '../core/index.ts';
import type { Tokenizer } from '../text/index.ts';
import { encodeStream, WINDOW } from './encode.ts';
import { laneThreads } from './lane-threads.ts';
import { loadModel } from './model.ts';
import { type FilterSwitch, NeuralEncoder, streamEncoder } from './neural-encoder.ts';

describe('a network', () => {
  let tokenizer: Tokenizer;
  let encoder: NeuralEncoder;
  beforeAll(async () => {
    ({ tokenizer } = await loadModel(goldenFolder('tied'), { idf: 'none' }));
    const { specialIds: droppedTerms, size: numTerms } = tokenizer.vocabulary;
    const rules = { activation: 'relu', prune: { rule: 'none' }, droppedTerms, numTerms } as const;
    encoder = await NeuralEncoder.open(goldenFolder('tied'), rules);
  });
  afterAll(() => encoder.close());

  /** Whether the switch is still on after one text. */
  async function isOnAfter(text: string, filterSwitch: FilterSwitch): Promise<boolean> {
    await encoder.encodeBatch([tokenizer.encodeForModel(text, 40).ids], filterSwitch);
    return filterSwitch.on;
  }

  // Two terms of text 0 are active and 75 of text 9, of 277: less and more than a quarter pass the filter.
  const [few, many] = [golden.texts[0], golden.texts[9]];

  it('turns off the switch it is given when more than a quarter of the terms pass the filter, and no other', async () => {
    const [first, second] = [{ on: true }, { on: true }];
    expect(await isOnAfter(few, first)).toBe(true);
    expect(await isOnAfter(many, first)).toBe(false);
    expect(await isOnAfter(few, first)).toBe(false);
    expect(await isOnAfter(few, second)).toBe(true);
  });
});

describe('copies of a network in integers', () => {
  it('share all threads, four at most', () => {
    expect([1, 2, 3, 4, 6].map(laneThreads)).toEqual([[1], [1, 1], [1, 1, 1], [1, 1, 1, 1], [1, 1, 2, 2]]);
    expect(laneThreads(11)).toEqual([2, 3, 3, 3]);
  });

  it('give what one gives, each text where it belongs', async () => {
    const vectors = async (threads: number) => {
      const model = await loadModel(goldenFolder('tied'), { idf: 'none', precision: 'int8', threads });
      try {
        return (await collect(model.encode(asDocuments(golden.texts)))).map(({ id, vector }) => ({ id, vector }));
      } finally {
        await model.close();
      }
    };
    const one = await vectors(1);
    expect(one.some(({ vector }) => vector.terms.length > 0)).toBe(true);
    expect(await vectors(3)).toEqual(one);
  });
});

describe('streams of one network', () => {
  /** A stream for whose batches the filter never pays; says for each whether it was on. */
  function stream(numDocs: number) {
    const wasOn: boolean[] = [];
    const encoder = streamEncoder({
      tokenise: () => ({ ids: new Int32Array(2048), numTokens: 2048, textIds: new Uint32Array(0) }), // a batch of its own
      encodeBatch: async (batch, filterSwitch) => {
        wasOn.push(filterSwitch.on);
        filterSwitch.on = false;
        return batch.map(() => sparseVector([1], [1]));
      },
    });
    return { wasOn, encoded: encodeStream(asDocuments(Array(numDocs).fill('x')), encoder) };
  }

  it('decide for themselves, and anew in each window, whether to filter', async () => {
    const [first, second] = [stream(WINDOW + 2), stream(2)];
    await first.encoded.next(); // the first window
    await collect(second.encoded);
    await collect(first.encoded);
    expect(second.wasOn).toEqual([true, false]);
    const anew = [0, WINDOW];
    expect(first.wasOn).toEqual(Array.from({ length: WINDOW + 2 }, (_, i) => anew.includes(i)));
  });
});
