/**
 * What a teacher is worth: the same run (start, data, batches, steps) once with InfoNCE over the labelled pairs, once with
 * the scores of a dense teacher besides, both compared on the queries of NFCorpus' dev split. The student is a small SPLADE.
 *
 *     npm run build && npx tsx runs/teach-scifact.ts DATA WEIGHTS [-o FOLDER] [--set key=value …]
 *
 * DATA is the unpacked folder of real data (collections/beir/scifact and nfcorpus), WEIGHTS has minilm-l6, splade-tiny and
 * gte-small. FOLDER keeps what is made; the same call goes on where one was stopped. Settings: configs/objectives.yaml. The
 * teacher reads 128 tokens; its scores over the whole batch are distilled with τ 0.01 and, more softly, 0.03 (cosines of
 * gte-small differ by hundredths), the student's with τ 2.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareLearning, smallStart, trainOn } from './lib/learn-setting.ts';
import { lzero } from './lib/lzero.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', short: 'o', default: 'teach-scifact' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [data, weights] = positionals;
if (!data || !weights) throw new Error('usage: npx tsx runs/teach-scifact.ts DATA WEIGHTS [-o FOLDER]');

const INFO_NCE = '{ loss: info-nce, temperature: 3, inBatchNegatives: true }';
const kl = (teacherTemperature: number): string =>
  `{ loss: kl, temperature: 2, teacherTemperature: ${teacherTemperature}, inBatchNegatives: true }`;
const TEACHER = `"dense:${join(weights, 'gte-small')},pooling=mean,max-length=128"`;
const MEMORY = join(values.output, 'teachers');
const taught = (teacherTemperature: number): string[] => [
  `rank=[${kl(teacherTemperature)}, { weight: 0.3, ${INFO_NCE.slice(2)}]`,
  `teachers={ models: [${TEACHER}], normalise: none, scale: 1, memory: ${MEMORY} }`,
];
const VARIANTS = { 'info-nce': [`rank=${INFO_NCE}`], taught: taught(0.01), softly: taught(0.03) };

const setting = smallStart(prepareLearning(data, weights, values.output), weights);
const runs = Object.entries(VARIANTS).map(([name, set]) => {
  const run = join(setting.folder, 'taught', name);
  trainOn(setting, run, [...set, ...values.set]);
  return run;
});
const systems = [setting.start, ...runs.map((run) => join(run, 'model'))].flatMap((system) => ['--system', system]);
const dev = ['eval', setting.collection('nfcorpus'), '--split', 'dev'];
console.log(lzero(...dev, ...systems, '--run-dir', join(setting.folder, 'eval')));
