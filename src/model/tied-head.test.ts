import { beforeAll, describe, expect, it } from 'vitest';
import { floatsOf, golden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { InputError, Random } from '../core/index.ts';
import { Checkpoint, WORD_EMBEDDINGS } from './checkpoint.ts';
import { tiedLogitsGraph } from './document-graph.ts';
import { GraphRunner } from './graph-runner.ts';
import { loadModel } from './model.ts';
import { calibrateTiedHead, type TiedHead, tiedHeadTensors } from './tied-head.ts';

const FOLDER = goldenFolder('tied');
/** [PAD] and some more. */
const EXCLUDED = new Set([0, 100, 101, 102, 103]);
const VOCAB_SIZE = 277;
const TARGET_TERMS = 200;

/** Documents of 3…40 of the golden texts' words. */
async function randomDocuments(count: number): Promise<Int32Array[]> {
  const random = new Random(4);
  const words = golden.texts[9].split(' ');
  const { tokenizer } = await loadModel(FOLDER, { idf: 'none' });
  return Array.from({ length: count }, () => {
    const text = Array.from({ length: 3 + random.below(38) }, () => words[random.below(words.length)]).join(' ');
    return tokenizer.encodeForModel(text, 64).ids;
  });
}

let documents: Int32Array[];
let head: TiedHead;
beforeAll(async () => {
  documents = await randomDocuments(30);
  head = await calibrateTiedHead(FOLDER, documents, { excluded: EXCLUDED });
});

/** max_i logits of one document under the head, in the engine. */
async function logitsOf({ scale, inputShare, bias }: TiedHead, batch: readonly Int32Array[]): Promise<Float32Array[]> {
  const checkpoint = await Checkpoint.open(FOLDER);
  const runner = await GraphRunner.start(checkpoint);
  await runner.load(tiedLogitsGraph(checkpoint, runner.parameters));
  const scalar = (x: number) => ({ dtype: 'float32', dims: [1], data: Float32Array.of(x) }) as const;
  const { logits } = await runner.run(batch, { scale: scalar(scale), inputShare: scalar(inputShare) });
  await runner.close();
  await checkpoint.close();
  const all = floatsOf(logits);
  return batch.map((_, d) => bias.map((b, j) => all[d * VOCAB_SIZE + j] + b));
}

describe('a calibrated tied head', () => {
  it(`leaves ${TARGET_TERMS} ± 1 terms active a document, on average over its text`, async () => {
    const rows = await logitsOf(head, documents);
    const active = rows.map((row) => row.filter((z) => z > 0).length);
    const mean = active.reduce((a, b) => a + b, 0) / active.length;
    expect(Math.abs(mean - TARGET_TERMS)).toBeLessThanOrEqual(1);
    expect(Math.max(...active)).toBeGreaterThan(Math.min(...active));
  });

  it('never activates excluded terms, and offsets the others by minus their mean, less one θ for all', async () => {
    const rows = await logitsOf(head, documents);
    for (const row of rows) for (const j of EXCLUDED) expect(row[j]).toBeLessThan(-50);
    const included = Array.from(head.bias.keys()).filter((j) => !EXCLUDED.has(j));
    const means = included.map((j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
    for (const mean of means) expect(Math.abs(mean - means[0])).toBeLessThan(1e-4); // −θ for every term
  });

  it('has β = 2.38 / mean ‖E_j‖², and an s that gives the logits a spread of 0.44 without β', async () => {
    const checkpoint = await Checkpoint.open(FOLDER);
    const embeddings = await checkpoint.read(WORD_EMBEDDINGS);
    await checkpoint.close();
    const meanSquare = embeddings.reduce((sum, x) => sum + x * x, 0) / VOCAB_SIZE;
    expect(head.inputShare * meanSquare).toBeCloseTo(2.38, 5);
    const rows = await logitsOf({ ...head, inputShare: 0, bias: new Float32Array(VOCAB_SIZE) }, documents);
    let squares = 0;
    for (let j = 0; j < VOCAB_SIZE; j++) {
      const mean = rows.reduce((sum, row) => sum + row[j], 0) / rows.length;
      for (const row of rows) squares += (row[j] - mean) ** 2;
    }
    expect(Math.sqrt(squares / (rows.length * VOCAB_SIZE))).toBeCloseTo(0.44, 4);
  });

  it('is the same every time, to the bit', async () => {
    expect(await calibrateTiedHead(FOLDER, documents, { excluded: EXCLUDED })).toEqual(head);
  });

  it('is stored as three tensors: s, β and the bias', () => {
    expect(tiedHeadTensors(head).map(({ name, shape }) => [name, shape])).toEqual([
      ['lzero.tied_head.scale', [1]],
      ['lzero.tied_head.input_share', [1]],
      ['lzero.tied_head.bias', [VOCAB_SIZE]],
    ]);
  });

  it('needs eight documents', async () => {
    await expect(calibrateTiedHead(FOLDER, documents.slice(0, 7), { excluded: EXCLUDED })).rejects.toThrow(InputError);
  });
});
