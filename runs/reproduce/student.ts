/**
 * The student of `lzero reproduce --scale small`: splade-tiny, with a head whose logits are scaled.
 *
 * splade-tiny was trained with log(1 + relu), and as relu its logits give scores that are far apart: training would begin with
 * pushing all of them down, and in 80 steps documents lose two thirds of their terms, at any λ. So logits are multiplied by the factor
 * whose scores come nearest to those of the teacher on lists of the training data. No document's terms change by it.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { dot, evenlySpaced } from '../../src/core/index.ts';
import { Checkpoint, loadModel, type TensorToWrite, writeSafetensors } from '../../src/model/index.ts';

/** A list that a teacher has scored. */
export type ScoredList = {
  readonly query: string;
  readonly docs: readonly string[];
  readonly scores: readonly number[];
};

/** Lists that scores are compared on. */
const SAMPLE = 150;
/** Factors that are tried: 1, and down in steps of √½. */
const FACTORS = Array.from({ length: 11 }, (_, k) => 2 ** (-k / 2));
/** What logits are linear in: the output of the head's last norm, and the bias of every term. */
const SCALED = [
  'cls.predictions.transform.LayerNorm.weight',
  'cls.predictions.transform.LayerNorm.bias',
  'cls.predictions.bias',
];

/** The factor with the least divergence from the teacher, over all pairs of each list; `folder` is a model with relu. */
export async function bestFactor(folder: string, lists: readonly ScoredList[]): Promise<number> {
  const model = await loadModel(folder);
  const pairs: { readonly student: number; readonly teacher: number }[] = [];
  for (const { query, docs, scores } of evenlySpaced(lists, SAMPLE)) {
    const { vector } = model.encodeQuery(query);
    const own: number[] = [];
    const items = docs.map((text, i) => ({ id: String(i), text }));
    for await (const document of model.encode(items)) own.push(dot(vector, document.vector));
    for (let i = 0; i < own.length; i++)
      for (let j = 0; j < i; j++) pairs.push({ student: own[i] - own[j], teacher: scores[i] - scores[j] });
  }
  await model.close();
  const losses = FACTORS.map(
    (factor) =>
      pairs.reduce((sum, { student, teacher }) => sum + pairLoss(factor * student, teacher), 0) / pairs.length,
  );
  const best = losses.indexOf(Math.min(...losses));
  console.log(
    `logits × ${FACTORS[best].toFixed(3)}: KL of pairs ${losses[best].toFixed(3)}, as they are ${losses[0].toFixed(3)}`,
  );
  return FACTORS[best];
}

/** The checkpoint with its logits multiplied. */
export async function writeScaled(source: string, factor: number, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const file of ['config.json', 'tokenizer.json', 'vocab.txt']) cpSync(join(source, file), join(folder, file));
  const checkpoint = await Checkpoint.open(source);
  const tensors: TensorToWrite[] = [];
  for (const name of checkpoint.usedNames) {
    const values = await checkpoint.read(name);
    const scaled = SCALED.includes(name) ? values.map((value) => factor * value) : values;
    tensors.push({ name, dtype: 'F32', shape: checkpoint.entry(name).shape, values: scaled });
  }
  await checkpoint.close();
  await writeSafetensors(join(folder, 'model.safetensors'), tensors);
}

/** Cross entropy of two documents' softmax, by how far apart they are, less what the teacher's own entropy is. */
function pairLoss(student: number, teacher: number): number {
  const share = 1 / (1 + Math.exp(-teacher));
  const entropy = [share, 1 - share].reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
  return share * softplus(-student) + (1 - share) * softplus(student) - entropy;
}

function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}
