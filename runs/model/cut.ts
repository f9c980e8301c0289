/**
 * A sentence encoder with fewer layers: one after the other is left out, each time the one whose absence changes least how well
 * documents answer queries. What is left is a base for a student that begins where its teacher is.
 *
 *     npm run build && npx tsx runs/model/cut.ts WORK WEIGHTS/gte-small [--layers 8] [-o WORK/cut]
 *
 * WORK has documents.jsonl (runs/model/prepare.ts). Prints for each layer that goes how far the scores of the rest agree with
 * those of the whole: the mean over queries of the correlation over documents.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { evenlySpaced } from '../../src/core/index.ts';
import { Checkpoint, DenseModel, denseProduct, type TensorToWrite, writeSafetensors } from '../../src/model/index.ts';
import { rows } from './sources.ts';

/** Documents, and a query of each, by which cuts are compared. */
const SAMPLE = 160;
/** Tokens that are read of each. */
const MAX_LENGTH = 96;
/** The layer that a tensor belongs to. */
const LAYER = /^bert\.encoder\.layer\.(\d+)\./;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { layers: { type: 'string', default: '8' }, output: { type: 'string', short: 'o' } },
});
const [work, source] = positionals;
const target = Number(values.layers);
if (!work || !source || !(target >= 1)) throw new Error('usage: npx tsx runs/model/cut.ts WORK ENCODER [--layers 8]');
const output = values.output ?? join(work, 'cut');
const trial = `${output}-trial`;

type Row = { readonly text: string; readonly queries: readonly string[] };
const documents: Row[] = [];
for await (const row of rows<Row>(join(work, 'documents.jsonl'))) documents.push(row);
const sample = evenlySpaced(documents, SAMPLE);

const tensors = await encoderTensors(source);
const numLayers = 1 + Math.max(...tensors.map(({ name }) => Number(LAYER.exec(name)?.[1] ?? -1)));
let kept = Array.from({ length: numLayers }, (_, layer) => layer);
const whole = await scoresOf(source);
while (kept.length > target) {
  const trials: { readonly layers: readonly number[]; readonly left: number; readonly agreement: number }[] = [];
  for (const left of kept) {
    const layers = kept.filter((layer) => layer !== left);
    await writeCut(trial, layers);
    trials.push({ layers, left, agreement: agreement(whole, await scoresOf(trial)) });
  }
  const best = trials.reduce((a, b) => (b.agreement > a.agreement ? b : a));
  kept = [...best.layers];
  console.log(`without layer ${best.left}: ${best.agreement.toFixed(4)}; left are ${kept.join(' ')}`);
}
rmSync(trial, { recursive: true, force: true });
await writeCut(output, kept);
console.log(output);

/** The encoder's tensors, without those that count positions. */
async function encoderTensors(folder: string): Promise<TensorToWrite[]> {
  const checkpoint = await Checkpoint.open(folder);
  try {
    const read: TensorToWrite[] = [];
    for (const name of checkpoint.usedNames)
      read.push({ name, dtype: 'F32', shape: checkpoint.entry(name).shape, values: await checkpoint.read(name) });
    return read;
  } finally {
    await checkpoint.close();
  }
}

/** The encoder with these of its layers, in their order. */
async function writeCut(folder: string, layers: readonly number[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const config: object = JSON.parse(readFileSync(join(source, 'config.json'), 'utf8'));
  const cut = { ...config, num_hidden_layers: layers.length };
  writeFileSync(join(folder, 'config.json'), `${JSON.stringify(cut, undefined, 2)}\n`);
  for (const file of ['tokenizer.json', 'vocab.txt']) cpSync(join(source, file), join(folder, file));
  const chosen = tensors.flatMap((tensor) => {
    const layer = LAYER.exec(tensor.name)?.[1];
    if (layer === undefined) return [tensor];
    const place = layers.indexOf(Number(layer));
    return place < 0 ? [] : [{ ...tensor, name: tensor.name.replace(LAYER, `bert.encoder.layer.${place}.`) }];
  });
  await writeSafetensors(join(folder, 'model.safetensors'), chosen);
}

/** Cosines of every query with every document, a row for each query. */
async function scoresOf(folder: string): Promise<number[][]> {
  const model = await DenseModel.load(folder, { pooling: 'mean', maxLength: MAX_LENGTH });
  try {
    const encode = async (texts: readonly string[], role: 'query' | 'document'): Promise<Float32Array[]> => {
      const vectors: Float32Array[] = [];
      const items = texts.map((text, i) => ({ id: String(i), text }));
      for await (const { vector } of model.encode(items, { role })) vectors.push(vector);
      return vectors;
    };
    const ofQueries = await encode(
      sample.map(({ queries }) => queries[0]),
      'query',
    );
    const ofDocuments = await encode(
      sample.map(({ text }) => text),
      'document',
    );
    return ofQueries.map((query) => ofDocuments.map((document) => denseProduct(query, document)));
  } finally {
    await model.close();
  }
}

/** Mean over rows of the correlation of both. */
function agreement(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number {
  return a.reduce((sum, row, i) => sum + correlation(row, b[i]), 0) / a.length;
}

function correlation(x: readonly number[], y: readonly number[]): number {
  const [dx, dy] = [x, y].map((values) => {
    const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
    return values.map((v) => v - mean);
  });
  const product = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, v, i) => sum + v * b[i], 0);
  return product(dx, dy) / Math.sqrt(product(dx, dx) * product(dy, dy));
}
