/** Thresholds of topic heads, and the head through a real engine against the formula. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyOfGolden } from '../../test/golden/model/fixtures.ts';
import { InputError, Random } from '../core/index.ts';
import { meanStates } from './about-terms.ts';
import { Checkpoint, WEIGHTS_FILE } from './checkpoint.ts';
import { firm } from './firm-threshold.ts';
import type { Precision } from './int8/precision.ts';
import { type FilterSwitch, NeuralEncoder } from './neural-encoder.ts';
import { unitRows } from './pooled-matrix.ts';
import { storedTerms, type TopicHead, topicHead, topicHeadTensors } from './topic-head.ts';
import { writeWeights } from './write-weights.ts';

const normals = (random: Random, size: number): Float32Array =>
  Float32Array.from({ length: size }, () => random.normal());

describe('thresholds of a topic head', () => {
  const [width, numTerms, numDocs] = [16, 2_000, 200];
  const random = new Random(1);
  const parts = {
    terms: { data: normals(random, numTerms * width), width },
    documents: unitRows({ data: normals(random, numDocs * width), width }),
    queryWeights: Float32Array.from({ length: numTerms }, () => 1 + 8 * random.uniform()),
    excluded: new Set([7, 8]),
  };

  it('leave 180 terms active on average, and never those that are excluded', () => {
    const { terms, mean, bias, ownBias } = topicHead(parts);
    let numActive = 0;
    for (let d = 0; d < numDocs; d++)
      for (let j = 0; j < numTerms; j++) {
        let z = bias[j];
        for (let k = 0; k < width; k++)
          z += (parts.documents.data[d * width + k] - mean[k]) * terms.data[j * width + k];
        if (z <= 0) continue;
        numActive++;
        expect(parts.excluded.has(j)).toBe(false);
      }
    expect(Math.abs(numActive / numDocs - 180)).toBeLessThan(1);
    parts.queryWeights.forEach((q, j) => {
      expect(ownBias[j]).toBe(q >= 1.5 && !parts.excluded.has(j) ? 0 : bias[j]);
    });
  });

  it('are −s·θ/g_j, with g_j = q_j·exp(−0.3·q_j) and one θ for all; s is 3, and is in the stored vectors', () => {
    const { terms, bias } = topicHead(parts);
    const gains = parts.queryWeights.map((q) => q * Math.exp(-0.3 * q));
    const theta = (bias[0] * gains[0]) / -3;
    expect(theta).toBeGreaterThan(0);
    bias.forEach((b, j) => {
      if (!parts.excluded.has(j)) expect(Math.abs((b * gains[j]) / (-3 * theta) - 1)).toBeLessThan(1e-5);
    });
    expect(terms.data).toEqual(parts.terms.data.map((value) => 3 * value));
    const distance = storedTerms(terms).data.reduce(
      (most, c, i) => Math.max(most, Math.abs(c - parts.terms.data[i])),
      0,
    );
    expect(distance).toBeLessThan(1e-6);
  });

  it('are nothing that a handful of documents could tell', () => {
    const few = { data: parts.documents.data.subarray(0, 10 * width), width };
    expect(() => topicHead({ ...parts, documents: few })).toThrow(InputError);
  });
});

describe('a topic head in a network', () => {
  it('gives (t − t̄)·c_j of the mean state at length 1 beyond −b_j, for terms of the text beyond −o_j; in int8 nearly', async () => {
    const { folder, remove } = copyOfGolden('tied');
    try {
      const head = await addHead(folder);
      const documents = [Int32Array.of(2, 9, 12, 3), Int32Array.of(2, 5, 6, 7, 8, 11, 3)];
      const expected = await expectedLogits(folder, documents, head);
      for (const on of [true, false])
        for (const [d, z] of (await logitsOf(folder, documents, { on })).entries())
          for (const [j, value] of z.entries()) expect(Math.abs(value - expected[d][j])).toBeLessThan(1e-4);
      for (const [d, z] of (await logitsOf(folder, documents, { on: true }, 'int8')).entries())
        expect(cosine(z, expected[d])).toBeGreaterThan(0.99);
    } finally {
      remove();
    }
  });

  /** Puts a random head into the folder of a checkpoint. */
  async function addHead(folder: string): Promise<TopicHead> {
    const checkpoint = await Checkpoint.open(folder);
    const { vocabSize, hiddenSize: width } = checkpoint.config;
    const random = new Random(2);
    const head = {
      terms: { data: normals(random, vocabSize * width), width },
      mean: normals(random, width).map((value) => value / 10),
      bias: normals(random, vocabSize),
      ownBias: normals(random, vocabSize),
    };
    const made = join(folder, 'made');
    await writeWeights(made, checkpoint, { added: topicHeadTensors(head) });
    await checkpoint.close();
    renameSync(made, join(folder, WEIGHTS_FILE));
    return head;
  }

  async function expectedLogits(
    folder: string,
    documents: readonly Int32Array[],
    { terms: { data, width }, mean, bias, ownBias }: TopicHead,
  ): Promise<Float64Array[]> {
    const checkpoint = await Checkpoint.open(folder);
    expect(checkpoint.head).toBe('topic');
    const means = unitRows(await meanStates(checkpoint, documents)).data;
    await checkpoint.close();
    return documents.map((document, d) =>
      Float64Array.from(bias, (b, j) => {
        let x = 0;
        for (let k = 0; k < width; k++) x += (means[d * width + k] - mean[k]) * data[j * width + k];
        return x > 0 ? Math.max(0, firm(x, document.includes(j) ? ownBias[j] : b)) : 0;
      }),
    );
  }

  async function logitsOf(
    folder: string,
    documents: readonly Int32Array[],
    filterSwitch: FilterSwitch,
    precision?: Precision,
  ): Promise<Float64Array[]> {
    const numTerms = 277; // of the golden tokenizer
    const rules = {
      activation: undefined,
      prune: { rule: 'none' },
      droppedTerms: new Set<number>(),
      numTerms,
    } as const;
    const encoder = await NeuralEncoder.open(folder, rules, { precision });
    const vectors = await encoder.encodeBatch(documents, filterSwitch);
    await encoder.close();
    return vectors.map(({ terms, weights }) => {
      const z = new Float64Array(numTerms);
      terms.forEach((j, i) => {
        z[j] = weights[i];
      });
      return z;
    });
  }
});

function cosine(x: Float64Array, y: Float64Array): number {
  const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, value, i) => sum + value * b[i], 0);
  return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
}
