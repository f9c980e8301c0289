/** What runs on SciFact and NFCorpus begin with: MiniLM with a tied head, triples of both, and the settings that name them. */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { lzero } from './lzero.ts';
import { trainOnce } from './train-once.ts';

const configOf = (name: string): string => resolve(import.meta.dirname, '../../configs', name);

/** Where everything is. */
export type LearnSetting = {
  readonly folder: string;
  /** The model that runs begin with. */
  readonly start: string;
  /** Their configuration, all but the paths. */
  readonly config: string;
  /** Path of a collection. */
  collection(name: string): string;
};

/** Makes what is missing in `folder`. */
export function prepareLearning(data: string, weights: string, folder: string): LearnSetting {
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
    if (!existsSync(file))
      lzero('mine', collection(name), '-o', file, '--negatives', '12', '--positives', String(maxPositives));
  }
  return { folder, start, config: configOf('learn-scifact.yaml'), collection };
}

/** The same with a small SPLADE to begin with, whose runs take a minute. */
export function smallStart(setting: LearnSetting, weights: string): LearnSetting {
  const start = join(setting.folder, 'small-start');
  const options = ['--encode-length', '256', '--activation', 'relu'];
  if (!existsSync(start)) lzero('model', 'import', join(weights, 'splade-tiny'), '-o', start, ...options);
  return { ...setting, start, config: configOf('objectives.yaml') };
}

/** Trains over the start and the triples with more settings, or goes on; what is finished stays. Gives its minutes. */
export function trainOn({ folder, start, config }: LearnSetting, run: string, set: readonly string[]): number {
  const settings = [
    `model.base=${start}`,
    `data.train.0.path=${join(folder, 'scifact.jsonl')}`,
    `data.train.1.path=${join(folder, 'nfcorpus.jsonl')}`,
    ...set,
  ];
  return trainOnce(config, run, settings);
}

/** Trains with configs/learn-scifact.yaml, evaluated on NFCorpus. Gives the folder of the run. */
export function learn(name: string, setting: LearnSetting, set: readonly string[]): string {
  const run = join(setting.folder, name);
  const minutes = trainOn(setting, run, [`evaluate.collection=${setting.collection('nfcorpus')}`, ...set]);
  if (minutes > 0) console.log(`${name}: trained in ${minutes.toFixed(1)} minutes, evaluations included`);
  return run;
}
