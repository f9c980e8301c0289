/**
 * Figure 2 of the paper in small: what λ does to the length of documents, with and without the l0 mask. Runs of `lzero
 * train` from splade-tiny on SciFact's training split; those that collapse are stopped by the alarm.
 *
 *     npm run build && npx tsx runs/collapse.ts DATA WEIGHTS [-o FOLDER] [--set key=value …]
 *
 * DATA is the unpacked folder of real data (collections/beir/scifact), WEIGHTS has splade-tiny. FOLDER keeps what is made;
 * the same call goes on where one was stopped. λ and t are the paper's, steps and rates are not: configs/collapse.yaml. Fails
 * unless some λ collapses without the mask and not with it.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { curveOf } from './lib/curves.ts';
import { lzero, tryLzero } from './lib/lzero.ts';

const CONFIG = resolve(import.meta.dirname, '../configs/collapse.yaml');
const LAMBDAS = [0.01, 0.1, 0.4, 0.8];
const SERIES = {
  baseline: ['model.activation=relu', 'sparsity.threshold=null'],
  mask: ['model.activation=relu', 'sparsity.threshold=200'],
  both: ['model.activation=l0', 'sparsity.threshold=200'],
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', short: 'o', default: 'collapse' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [data, weights] = positionals;
if (!data || !weights) throw new Error('usage: npx tsx runs/collapse.ts DATA WEIGHTS [-o FOLDER]');
const folder = values.output;
const made = (name: string): string => join(folder, name);
const scifact = join(data, 'collections/beir/scifact');

mkdirSync(folder, { recursive: true });
if (!existsSync(made('start')))
  lzero('model', 'import', join(weights, 'splade-tiny'), '-o', made('start'), '--encode-length', '256');
if (!existsSync(made('scifact.jsonl')))
  lzero('mine', scifact, '-o', made('scifact.jsonl'), '--negatives', '12', '--positives', '5');

const results = LAMBDAS.flatMap((lambda) =>
  Object.entries(SERIES).map(([series, settings]) => ({ lambda, series, ...trained(lambda, series, settings) })),
);
console.log('| λ | series | terms a document | NDCG@10 | stopped by the alarm |\n| - | - | - | - | - |');
for (const { lambda, series, docLen, ndcg, alarm } of results)
  console.log(`| ${lambda} | ${series} | ${docLen?.toFixed(1)} | ${ndcg?.toFixed(3)} | ${alarm} |`);
const hasCollapsed = (lambda: number, series: string): boolean =>
  results.some((run) => run.lambda === lambda && run.series === series && run.alarm !== '');
const shown = LAMBDAS.filter((lambda) => hasCollapsed(lambda, 'baseline') && !hasCollapsed(lambda, 'mask'));
console.log(`collapses without the mask and not with it: λ = ${shown.join(', ') || 'none'}`);
if (shown.length === 0) process.exitCode = 1;

/** Lengths and quality at the last evaluation of a run, and what the alarm said. */
function trained(lambda: number, series: string, settings: readonly string[]) {
  const run = made(`${series}-${lambda}`);
  const given = [
    `model.base=${made('start')}`,
    `data.train=${made('scifact.jsonl')}`,
    `evaluate.collection=${scifact}`,
    `sparsity.lambda=${lambda}`,
    ...settings,
    ...values.set,
  ].flatMap((setting) => ['--set', setting]);
  const resume = existsSync(join(run, 'run.json')) ? ['--resume'] : [];
  const error = existsSync(join(run, 'model')) ? '' : tryLzero('train', CONFIG, '-o', run, ...given, ...resume).stderr;
  const alarm = /error\[(?:COLLAPSE|DIVERGED)\]: (.*)/.exec(error)?.[1] ?? '';
  if (!alarm && !existsSync(join(run, 'model'))) throw new Error(error);
  const { docLen, 'ndcg@10': ndcg } = curveOf(run, []).at(-1)?.evaluation ?? {};
  return { docLen, ndcg, alarm };
}
