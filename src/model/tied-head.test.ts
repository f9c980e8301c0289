import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { floatsOf, golden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { InputError, InterruptedError, Random } from '../core/index.ts';
import type { SpecialTokenFrame } from '../text/index.ts';
import type { ParameterSource } from './bert-graph.ts';
import { Checkpoint, WORD_EMBEDDINGS } from './checkpoint.ts';
import { documentGraph, tiedLogitsGraph } from './document-graph.ts';
import { GraphRunner } from './graph-runner.ts';
import { loadModel } from './model.ts';
import { openSafetensors } from './tensors/safetensors.ts';
import { type TensorToWrite, writeSafetensors } from './tensors/safetensors-writer.ts';
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

/** [CLS] and [SEP] of the golden vocabulary. */
let FRAME: SpecialTokenFrame;
let documents: Int32Array[];
let head: TiedHead;
beforeAll(async () => {
  documents = await randomDocuments(30);
  FRAME = (await loadModel(FOLDER, { idf: 'none' })).tokenizer.frame;
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

describe('a calibrated pooled head', () => {
  let pooled: TiedHead;
  let folder: string;
  let weights: Float32Array[];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lzero-pooled-'));
    pooled = await calibrateTiedHead(FOLDER, documents, { excluded: EXCLUDED, pooledFrame: FRAME });
    cpSync(FOLDER, folder, { recursive: true });
    await addTensors(folder, tiedHeadTensors(pooled));
    weights = await activeOf(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('has s and β of a tied one, and a square matrix besides', () => {
    expect([pooled.scale, pooled.inputShare]).toEqual([head.scale, head.inputShare]);
    expect(tiedHeadTensors(pooled).map(({ name, shape }) => [name, shape])).toContainEqual([
      'lzero.tied_head.pooled',
      [24, 24],
    ]);
  });

  it(`leaves ${TARGET_TERMS} ± 1 terms active a document: the bias was made for the logits that the network gives`, () => {
    const mean = weights.reduce((sum, { length }) => sum + length, 0) / weights.length;
    expect(Math.abs(mean - TARGET_TERMS)).toBeLessThanOrEqual(1);
  });

  it('is the same every time, to the bit, and nearly the same with the documents in another order', async () => {
    const options = { excluded: EXCLUDED, pooledFrame: FRAME };
    expect(await calibrateTiedHead(FOLDER, documents, options)).toEqual(pooled);
    const reversed = await calibrateTiedHead(FOLDER, documents.toReversed(), options);
    const largest = reversed.bias.reduce((most, b, j) => Math.max(most, Math.abs(b - pooled.bias[j])), 0);
    expect(largest).toBeLessThan(1e-4);
  });

  it('tells of its work, and stops it', async () => {
    const told: number[] = [];
    const controller = new AbortController();
    const onProgress = (numDone: number): void => {
      told.push(numDone);
      if (numDone > 0.6 * documents.length) controller.abort();
    };
    const options = { excluded: EXCLUDED, pooledFrame: FRAME, signal: controller.signal, onProgress };
    await expect(calibrateTiedHead(FOLDER, documents, options)).rejects.toThrow(InterruptedError);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
  });

  it('is refused where documents are all alike', async () => {
    const alike = documents.map(() => documents[0]);
    await expect(calibrateTiedHead(FOLDER, alike, { excluded: EXCLUDED, pooledFrame: FRAME })).rejects.toThrow(
      InputError,
    );
  });

  /** Weights of the active terms of each document, by the whole model. */
  async function activeOf(model: string): Promise<Float32Array[]> {
    const checkpoint = await Checkpoint.open(model);
    const network = {
      visit: () => {},
      graph: (source: ParameterSource) => documentGraph(checkpoint, source, undefined),
    };
    const runner = await GraphRunner.open(checkpoint, network, {});
    try {
      expect(checkpoint.head).toBe('pooled');
      const { z } = await runner.run(documents);
      const all = floatsOf(z);
      return documents.map((_, d) => all.slice(d * VOCAB_SIZE, (d + 1) * VOCAB_SIZE).filter((value) => value > 0));
    } finally {
      await runner.close();
      await checkpoint.close();
    }
  }
});

/** Adds a head to the encoder of a checkpoint whose own one it hides. */
async function addTensors(folder: string, added: readonly TensorToWrite[]): Promise<void> {
  const path = join(folder, 'model.safetensors');
  const file = await openSafetensors(path);
  const encoder: TensorToWrite[] = [];
  for (const [name, { shape }] of file.tensors)
    if (name.startsWith('bert.')) encoder.push({ name, dtype: 'F32', shape, values: await file.readFloat32(name) });
  await file.close();
  await writeSafetensors(path, [...encoder, ...added]);
}
