/** What runs on SciFact and NFCorpus begin with: MiniLM with a tied head, triples of both, and the settings that name them. */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeTriples } from './hard-negatives.ts';
import { lzero } from './lzero.ts';

const CONFIG = resolve(import.meta.dirname, '../../configs/learn-scifact.yaml');

/** Where everything is. */
export type LearnSetting = {
  readonly folder: string;
  /** The model that runs begin with. */
  readonly start: string;
  /** Path of a collection. */
  collection(name: string): string;
};

/** Makes what is missing in `folder`. */
export async function prepareLearning(data: string, weights: string, folder: string): Promise<LearnSetting> {
  const collection = (name: string): string => join(data, 'collections/beir', name);
  const start = join(folder, 'start');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(start))
    lzero(
      ...['model', 'import', join(weights, 'minilm-l6'), '-o', start, '--encode-length', '256'],
      ...['--activation', 'l0', '--head', 'tied', '--calibrate', collection('scifact')],
    );
  for (const [name, maxPositives] of [
    ['scifact', 5],
    ['nfcorpus', 3],
  ] as const) {
    const file = join(folder, `${name}.jsonl`);
    if (existsSync(file)) continue;
    const options = { split: 'train', numNegatives: 12, maxPositives };
    console.log(`${name}: ${await writeTriples(collection(name), file, options)} pairs with 12 negatives`);
  }
  return { folder, start, collection };
}

/** Trains, or goes on; what is finished stays. Gives the folder of the run. */
export function learn(name: string, { folder, start, collection }: LearnSetting, set: readonly string[]): string {
  const settings = [
    `model.base=${start}`,
    `data.train.0.path=${join(folder, 'scifact.jsonl')}`,
    `data.train.1.path=${join(folder, 'nfcorpus.jsonl')}`,
    `evaluate.collection=${collection('nfcorpus')}`,
    ...set,
  ].flatMap((setting) => ['--set', setting]);
  const run = join(folder, name);
  if (existsSync(join(run, 'model'))) return run;
  const began = performance.now();
  lzero('train', CONFIG, '-o', run, ...settings, ...(existsSync(join(run, 'run.json')) ? ['--resume'] : []));
  console.log(`${name}: trained in ${((performance.now() - began) / 60_000).toFixed(1)} minutes, evaluations included`);
  return run;
}
