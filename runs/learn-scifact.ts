/**
 * It learns: MiniLM with a tied head, calibrated but not trained, against the same after a run of `lzero train` on the
 * training splits of SciFact and NFCorpus, on SciFact's test split; with the bag of words beside them.
 *
 *     npm run build && npx tsx runs/learn-scifact.ts DATA WEIGHTS [-o FOLDER] [--set key=value …]
 *
 * DATA is the unpacked folder of real data (collections/beir/scifact and nfcorpus), WEIGHTS has minilm-l6. FOLDER keeps
 * what is made; the same call goes on where one was stopped. Settings: configs/learn-scifact.yaml, chosen on NFCorpus' dev
 * split. Bars: NDCG@10 at least 3 points above the start with p < 0.05, and above the bag of words; a run of at most 40
 * minutes on two cores.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { curveTable } from './lib/curves.ts';
import { writeTriples } from './lib/hard-negatives.ts';
import { lzero } from './lib/lzero.ts';

const CONFIG = resolve(import.meta.dirname, '../configs/learn-scifact.yaml');

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', short: 'o', default: 'learn-scifact' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [data, weights] = positionals;
if (!data || !weights) throw new Error('usage: npx tsx runs/learn-scifact.ts DATA WEIGHTS [-o FOLDER]');
const folder = values.output;
const collection = (name: string): string => join(data, 'collections/beir', name);
const made = (name: string): string => join(folder, name);

mkdirSync(folder, { recursive: true });
if (!existsSync(made('start')))
  lzero(
    ...['model', 'import', join(weights, 'minilm-l6'), '-o', made('start'), '--encode-length', '256'],
    ...['--activation', 'l0', '--head', 'tied', '--calibrate', collection('scifact')],
  );
for (const [name, maxPositives] of [
  ['scifact', 5],
  ['nfcorpus', 3],
] as const)
  if (!existsSync(made(`${name}.jsonl`))) {
    const options = { split: 'train', numNegatives: 12, maxPositives };
    console.log(
      `${name}: ${await writeTriples(collection(name), made(`${name}.jsonl`), options)} pairs with 12 negatives`,
    );
  }

const settings = [
  `model.base=${made('start')}`,
  `data.train.0.path=${made('scifact.jsonl')}`,
  `data.train.1.path=${made('nfcorpus.jsonl')}`,
  `evaluate.collection=${collection('nfcorpus')}`,
  ...values.set,
].flatMap((setting) => ['--set', setting]);
const run = made('run');
if (!existsSync(join(run, 'model'))) {
  const start = performance.now();
  lzero('train', CONFIG, '-o', run, ...settings, ...(existsSync(join(run, 'run.json')) ? ['--resume'] : []));
  console.log(`trained in ${((performance.now() - start) / 60_000).toFixed(1)} minutes, evaluations included`);
}
console.log(`training, and NFCorpus' dev split:\n${curveTable(run, ['info-nce', 'docLen', 'docsPerSecond'])}`);
const systems = [made('start'), 'default', join(run, 'model')].flatMap((system) => ['--system', system]);
console.log(lzero('eval', collection('scifact'), ...systems, '--run-dir', made('eval')));
