import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asDocuments, collect, golden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { InterruptedError, Random, sparseVector } from '../core/index.ts';
import {
  type BatchEncoder,
  batches,
  type DocumentToEncode,
  EMPTY_VECTOR,
  encodeStream,
  WINDOW,
  WINDOW_CHARACTERS,
} from './encode.ts';
import { loadModel, type Model } from './model.ts';

/** The smallest encoder there is: a token per character, a text's vector is its length and its neighbours' number. */
class CountingEncoder implements BatchEncoder {
  readonly emptyVector = EMPTY_VECTOR;
  readonly batchSizes: number[] = [];
  inFlight = 0;
  mostInFlight = 0;

  tokenise(text: string) {
    const textIds = new Uint32Array(text.length);
    return { ids: new Int32Array(Math.min(text.length, 512) + 2), numTokens: text.length + 2, textIds };
  }

  async encodeBatch(batch: readonly Int32Array[]) {
    this.batchSizes.push(batch.length);
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    await new Promise(setImmediate);
    this.inFlight--;
    return batch.map((ids) => sparseVector([ids.length], [batch.length]));
  }
}

/** Texts of very different lengths. */
function randomTexts(count: number, seed = 1): string[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => 'x'.repeat(random.below(random.below(20) === 0 ? 900 : 60)));
}

describe('batches', () => {
  test.prop([fc.array(fc.integer({ min: 2, max: 512 }), { maxLength: WINDOW })])(
    'hold every document once, longest first, within 2,048 padded tokens and 64 documents',
    (lengths) => {
      const cut = batches(lengths);
      expect(cut.flat().toSorted((a, b) => a - b)).toEqual(lengths.map((_, i) => i));
      for (const batch of cut) {
        const longest = Math.max(...batch.map((i) => lengths[i]));
        expect(batch.length * longest).toBeLessThanOrEqual(2048);
        expect(batch.length).toBeLessThanOrEqual(64);
      }
      const flat = cut.flat().map((i) => lengths[i]);
      expect(flat).toEqual(flat.toSorted((a, b) => b - a));
    },
  );

  it('a document longer than a batch goes alone', () => {
    expect(batches([5000, 3, 3000])).toEqual([[0], [2], [1]]);
  });
});

describe('a stream', () => {
  it('begins no batch after one has failed, and waits for those begun', async () => {
    let numBegun = 0;
    let numEnded = 0;
    const failing: BatchEncoder = {
      tokenise: () => ({ ids: new Int32Array(2048), numTokens: 2048, textIds: new Uint32Array(0) }),
      encodeBatch: async (batch) => {
        const mine = ++numBegun;
        await new Promise(setImmediate);
        if (mine === 2) await new Promise(setImmediate);
        numEnded++;
        if (mine === 1) throw new Error('first');
        return batch.map(() => sparseVector([1], [1]));
      },
      emptyVector: EMPTY_VECTOR,
    };
    await expect(collect(encodeStream(asDocuments(Array(9).fill('x')), failing))).rejects.toThrow('first');
    expect([numBegun, numEnded]).toEqual([2, 2]);
  });

  it('gives a text without tokens the empty vector, and asks nothing of the network', async () => {
    const encoder = new CountingEncoder();
    const { encodeBatch, emptyVector } = encoder;
    const bare = {
      tokenise: () => ({ ids: new Int32Array(0), numTokens: 0, textIds: new Uint32Array(0) }),
      encodeBatch,
      emptyVector,
    };
    const [{ vector }] = await collect(encodeStream(asDocuments(['']), bare));
    expect([vector.terms.length, encoder.batchSizes]).toEqual([0, []]);
  });

  it('cuts windows by characters too, so that long texts do not add up', async () => {
    let numRead = 0;
    async function* texts() {
      for (const document of asDocuments(Array(4).fill('x'.repeat(WINDOW_CHARACTERS)))) {
        numRead++;
        yield document;
      }
    }
    const stream = encodeStream(texts(), new CountingEncoder());
    await stream.next();
    expect(numRead).toBe(1);
    await stream.return(undefined);
  });

  it('comes out in input order, over several windows, with lengths before the cut', async () => {
    const texts = randomTexts(2 * WINDOW + 37);
    const encoded = await collect(encodeStream(asDocuments(texts), new CountingEncoder()));
    expect(encoded.map(({ id }) => id)).toEqual(texts.map((_, i) => String(i)));
    encoded.forEach(({ numTokens, truncated, vector }, i) => {
      expect(numTokens).toBe(texts[i].length + 2);
      expect(truncated).toBe(texts[i].length > 512);
      expect(vector.terms[0]).toBe(Math.min(texts[i].length, 512) + 2);
    });
  });

  it('of nothing gives nothing', async () => {
    expect(await collect(encodeStream([], new CountingEncoder()))).toEqual([]);
  });

  it.each([1, 300, WINDOW, WINDOW + 1, 1200, 5000])(
    'skipping %i documents gives the rest of the whole',
    async (skip) => {
      const documents = asDocuments(randomTexts(1200));
      const whole = await collect(encodeStream(documents, new CountingEncoder()));
      const encoder = new CountingEncoder();
      expect(await collect(encodeStream(documents, encoder, { skip }))).toEqual(whole.slice(skip));
      const encoded = encoder.batchSizes.reduce((a, b) => a + b, 0);
      expect(encoded).toBeLessThanOrEqual(1200 - Math.floor(Math.min(skip, 1200) / WINDOW) * WINDOW);
    },
  );

  it('is read only as far as it is asked for: at most one window ahead, two batches in flight', async () => {
    let read = 0;
    function* endless(): Generator<DocumentToEncode> {
      for (;;) yield { id: String(read++), text: 'x'.repeat(read % 100) };
    }
    const encoder = new CountingEncoder();
    let taken = 0;
    for await (const _ of encodeStream(endless(), encoder)) {
      expect(read).toBeLessThanOrEqual(Math.floor(taken / WINDOW + 1) * WINDOW);
      if (++taken === 3 * WINDOW) break;
    }
    expect(encoder.mostInFlight).toBe(2);
  });

  it('stops between batches with InterruptedError when its signal is aborted', async () => {
    const controller = new AbortController();
    const encoder = new CountingEncoder();
    const stream = encodeStream(asDocuments(randomTexts(3 * WINDOW)), encoder, { signal: controller.signal });
    await stream.next();
    const batchesBefore = encoder.batchSizes.length;
    controller.abort();
    await expect(collect(stream)).rejects.toThrow(InterruptedError);
    expect(encoder.batchSizes.length).toBe(batchesBefore);
  });

  it('ends with the error of its source or its encoder', async () => {
    async function* broken(): AsyncGenerator<DocumentToEncode> {
      yield { id: '0', text: 'a' };
      throw new Error('the disk is gone');
    }
    await expect(collect(encodeStream(broken(), new CountingEncoder()))).rejects.toThrow('the disk is gone');
    const failing: BatchEncoder = {
      tokenise: (text) => ({ ids: new Int32Array(1), numTokens: 1, textIds: new Uint32Array(text.length) }),
      encodeBatch: () => Promise.reject(new Error('the engine is gone')),
      emptyVector: EMPTY_VECTOR,
    };
    await expect(collect(encodeStream(asDocuments(['a']), failing))).rejects.toThrow('the engine is gone');
  });
});

describe('a transformer’s stream', () => {
  let model: Model;
  beforeAll(async () => {
    model = await loadModel(goldenFolder('half'), { idf: 'none' });
  });
  afterAll(() => model.close());

  it('resumed in the middle of a window gives the same bits as the whole', async () => {
    const random = new Random(9);
    const words = golden.texts[7].split(' ');
    const texts = Array.from({ length: WINDOW + 60 }, () =>
      Array.from({ length: random.below(12) }, () => words[random.below(words.length)]).join(' '),
    );
    const whole = await collect(model.encode(asDocuments(texts)));
    for (const skip of [250, WINDOW + 20])
      expect(await collect(model.encode(asDocuments(texts), { skip }))).toEqual(whole.slice(skip));
  });

  it('gives empty texts the vector of [CLS] [SEP], all the same', async () => {
    const encoded = await collect(model.encode(asDocuments(['', ' ', '\u0000\n'])));
    expect(encoded.map(({ numTokens }) => numTokens)).toEqual([2, 2, 2]);
    expect([...encoded[0].vector.terms]).toEqual(golden.models[1].vectors[1].terms);
    expect(encoded[1].vector).toEqual(encoded[0].vector);
    expect(encoded[2].vector).toEqual(encoded[0].vector);
  });
});
