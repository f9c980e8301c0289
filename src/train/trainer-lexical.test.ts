import { describe, expect, it } from 'vitest';
import {
  golden,
  goldenBatch,
  goldenConfig,
  goldenNetwork,
  goldenTokenizer,
} from '../../test/golden/training/fixtures.ts';
import { Checkpoint } from '../model/index.ts';
import { IDF_PARAMETER } from './network/parameter-specs.ts';
import { Trainer } from './trainer.ts';

const [FIRST] = golden.cases;
const MIN_IDF = 1;
const lexical = { gain: 2, k1: 0.9, b: 0.4, averageLength: 10, minIdf: MIN_IDF };

/** The loss of a first step that begins with some query weights, and has others by the time of the step. */
async function lossOf(begins: Float32Array, now: Float32Array, rule: typeof lexical | undefined): Promise<number> {
  const checkpoint = await Checkpoint.open(goldenNetwork(FIRST.network));
  const trainer = await Trainer.create(goldenConfig(FIRST, {}), {
    ...{ checkpoint, tokenizer: goldenTokenizer(), idf: begins },
    lexical: rule,
  });
  try {
    trainer.parameters.get(IDF_PARAMETER).weights.set(now);
    return (await trainer.step(goldenBatch, 0)).loss;
  } finally {
    await trainer.close();
    await checkpoint.close();
  }
}

describe('a step of a model with a lexical part', () => {
  it('counts own words by the query weights as they are now, as a model that is written now would', async () => {
    const high = Float32Array.from(golden.idf, (weight) => Math.max(weight, MIN_IDF));
    const low = high.map((weight, term) => (term % 2 === 0 ? weight : MIN_IDF / 2)); // every second term falls below
    const learned = await lossOf(high, low, lexical);
    expect(learned).toBe(await lossOf(low, low, lexical));
    expect(learned).not.toBe(await lossOf(low, low, { ...lexical, minIdf: 0 }));
    expect(learned).not.toBe(await lossOf(low, low, undefined));
  });
});
