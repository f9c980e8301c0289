/**
 * What a teacher is worth: the same run (start, data, batches, steps) once with InfoNCE over the labelled pairs, once with
 * the scores of a dense teacher besides, both compared on the queries of NFCorpus' dev split.
 *
 *     npm run build && npx tsx runs/teach-scifact.ts DATA WEIGHTS [-o FOLDER] [--steps 200] [--set key=value …]
 *
 * DATA is the unpacked folder of real data (collections/beir/scifact and nfcorpus), WEIGHTS has minilm-l6 and gte-small. FOLDER
 * keeps what is made; the same call goes on where one was stopped. Settings: configs/learn-scifact.yaml. The teacher reads
 * 128 tokens in int8; its scores over the whole batch are distilled with τ 0.01 (recipe of short experiments: cosines of
 * gte-small differ by hundredths), the student's by 2.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { curveTable } from './lib/curves.ts';
import { learn, prepareLearning } from './lib/learn-setting.ts';
import { lzero } from './lib/lzero.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', short: 'o', default: 'teach-scifact' },
    steps: { type: 'string', default: '200' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [data, weights] = positionals;
if (!data || !weights) throw new Error('usage: npx tsx runs/teach-scifact.ts DATA WEIGHTS [-o FOLDER]');

const INFO_NCE = '{ loss: info-nce, temperature: 3, inBatchNegatives: true }';
const KL = '{ loss: kl, temperature: 2, teacherTemperature: 0.01, inBatchNegatives: true }';
const TEACHER = `{ models: ["dense:${join(weights, 'gte-small')},pooling=mean,max-length=128,precision=int8"], normalise: none, scale: 1 }`;
const VARIANTS = {
  'info-nce': [`rank=${INFO_NCE}`],
  taught: [`rank=[${KL}, { weight: 0.3, ${INFO_NCE.slice(2)}]`, `teachers=${TEACHER}`],
};

const setting = prepareLearning(data, weights, values.output);
const runs = Object.entries(VARIANTS).map(([name, set]) =>
  learn(name, setting, [`optim.steps=${values.steps}`, ...set, ...values.set]),
);
for (const run of runs) console.log(`${run}:\n${curveTable(run, ['rank', 'docLen', 'docsPerSecond'])}`);
const systems = [setting.start, ...runs.map((run) => join(run, 'model'))].flatMap((system) => ['--system', system]);
const dev = ['eval', setting.collection('nfcorpus'), '--split', 'dev'];
console.log(lzero(...dev, ...systems, '--run-dir', join(setting.folder, 'eval')));
