/** What the tests of converting models share: models with heads of our own, and two models compared by their vectors. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../src/core/index.ts';
import { Checkpoint, type TiedKind } from '../../src/model/checkpoint.ts';
import { type LoadOptions, loadModel, openSafetensors, writeSafetensors } from '../../src/model/index.ts';
import { tiedHeadTensors } from '../../src/model/tied-head.ts';
import { topicHeadTensors } from '../../src/model/topic-head.ts';
import { writeWeights } from '../../src/model/write-weights.ts';
import { encodeAll, goldenFolder } from '../golden/model/fixtures.ts';

/** A golden encoder with a tied or pooled head of made-up numbers, under which about a third of the terms are active. */
export async function writeTiedHeadModel(folder: string, kind: TiedKind = 'tied'): Promise<string> {
  const source = goldenFolder('tied');
  cpSync(source, folder, { recursive: true });
  const file = await openSafetensors(join(source, 'model.safetensors'));
  const names = [...file.tensors.keys()].filter((name) => name.startsWith('bert.'));
  const encoder = await Promise.all(
    names.map(async (name) => ({
      name,
      dtype: 'F32' as const,
      shape: file.tensors.get(name)?.shape ?? [],
      values: await file.readFloat32(name),
    })),
  );
  await file.close();
  const [numTerms, size] = encoder.find(({ name }) => name.endsWith('word_embeddings.weight'))?.shape ?? [0, 0];
  const random = new Random(7);
  const bias = Float32Array.from({ length: numTerms }, () => -2 - 2 * random.uniform());
  const pooled = Float32Array.from({ length: size * size }, () => 0.4 * (random.uniform() - 0.5));
  const head = tiedHeadTensors({ scale: 0.7, inputShare: 0.9, bias, ...(kind === 'pooled' && { pooled }) });
  await writeSafetensors(join(folder, 'model.safetensors'), [...encoder, ...head]);
  return folder;
}

/** A golden encoder with a topic head of made-up numbers. */
export async function writeTopicModel(folder: string): Promise<string> {
  cpSync(goldenFolder('tied'), folder, { recursive: true });
  const random = new Random(3);
  const [numTerms, width] = [277, 24];
  const head = topicHeadTensors({
    terms: { data: Float32Array.from({ length: numTerms * width }, () => 3 * random.normal()), width },
    mean: new Float32Array(width).fill(0.05),
    bias: new Float32Array(numTerms).fill(-3),
    ownBias: new Float32Array(numTerms),
  });
  const checkpoint = await Checkpoint.open(goldenFolder('tied'));
  await writeWeights(join(folder, 'model.safetensors'), checkpoint, { added: head });
  await checkpoint.close();
  return folder;
}

/** Which terms differ between the vectors of two models, and the largest difference of weights. */
export type Difference = {
  /** Terms that only one of the two has, over all texts. */
  readonly numOnlyInOne: number;
  readonly largest: number;
  /** Active terms of the first, over all texts. */
  readonly numTerms: number;
};

/** One side of a comparison. */
export type Side = { readonly folder: string; readonly options?: LoadOptions };

/** Compares the document vectors of two models. */
export async function compareVectors(a: Side, b: Side, texts: readonly string[]): Promise<Difference> {
  const [first, second] = [await vectorsOf(a, texts), await vectorsOf(b, texts)];
  let [numOnlyInOne, largest, numTerms] = [0, 0, 0];
  first.forEach((vector, i) => {
    const other = second[i];
    numTerms += vector.size;
    for (const term of new Set([...vector.keys(), ...other.keys()])) {
      const [x, y] = [vector.get(term), other.get(term)];
      if (x === undefined || y === undefined) numOnlyInOne++;
      largest = Math.max(largest, Math.abs((x ?? 0) - (y ?? 0)));
    }
  });
  return { numOnlyInOne, largest, numTerms };
}

/** Document vectors as term → weight. */
export async function vectorsOf({ folder, options }: Side, texts: readonly string[]): Promise<Map<number, number>[]> {
  const model = await loadModel(folder, options);
  try {
    const encoded = await encodeAll(model, texts);
    return encoded.map(
      ({ vector }) => new Map(Array.from(vector.terms, (term, i): [number, number] => [term, vector.weights[i]])),
    );
  } finally {
    await model.close();
  }
}
