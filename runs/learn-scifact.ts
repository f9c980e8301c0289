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
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { curveTable } from './lib/curves.ts';
import { learn, prepareLearning } from './lib/learn-setting.ts';
import { lzero } from './lib/lzero.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', short: 'o', default: 'learn-scifact' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [data, weights] = positionals;
if (!data || !weights) throw new Error('usage: npx tsx runs/learn-scifact.ts DATA WEIGHTS [-o FOLDER]');
const setting = prepareLearning(data, weights, values.output);
const run = learn('run', setting, values.set);
console.log(`training, and NFCorpus' dev split:\n${curveTable(run, ['info-nce', 'docLen', 'docsPerSecond'])}`);
const systems = [setting.start, 'default', join(run, 'model')].flatMap((system) => ['--system', system]);
console.log(lzero('eval', setting.collection('scifact'), ...systems, '--run-dir', join(setting.folder, 'eval')));
