/**
 * What other objectives do to quality and to posting lists: short runs of a small SPLADE that differ in the regulariser
 * (FLOPS, DF-FLOPS), in the query weights (fixed, each learned, learned as a projection) or in what is learned (pairs, and
 * the term weights of a larger model besides: MiniLM with a calibrated head), on NFCorpus' dev split.
 *
 *     npm run build && npx tsx runs/objectives.ts DATA WEIGHTS [-o FOLDER] [--only flops,projected] [--set key=value …]
 *
 * DATA is the unpacked folder of real data (collections/beir/scifact and nfcorpus), WEIGHTS has minilm-l6 and splade-tiny. FOLDER keeps
 * what is made; the same call goes on where one was stopped. Settings: configs/objectives.yaml. A run is about
 * a minute of steps and one of indexing on two quiet cores. Each regulariser has two λ, so that rows of like Doc_Len can be compared.
 */
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openCollection } from '../src/data/index.ts';
import { type Index, openIndex } from '../src/engines/index.ts';
import { evaluateRun, indexSystem, runSystem } from '../src/eval/index.ts';
import { prepareLearning, smallStart, trainOn } from './lib/learn-setting.ts';
import { lzero } from './lib/lzero.ts';
import { markdownHead, markdownRow } from './lib/markdown.ts';

const METRIC = 'ndcg@10';
const INFO_NCE = '{ loss: info-nce, temperature: 3, inBatchNegatives: true }'; // as in the configuration
const DF_FLOPS = 'sparsity.regulariser=df-flops';
const RUNS: Readonly<Record<string, readonly string[]>> = {
  flops: ['sparsity.lambda=0.003'],
  'flops-strong': ['sparsity.lambda=0.01'],
  'df-flops': [DF_FLOPS, 'sparsity.lambda=0.01'],
  'df-flops-strong': [DF_FLOPS, 'sparsity.lambda=0.1'],
  free: ['idf.learnable=true', 'idf.learningRate=1e-2', 'idf.weightDecay=0'],
  projected: ['idf.learnable=projected', 'idf.learningRate=1e-3', 'idf.weightDecay=0'],
  terms: [`rank=[${INFO_NCE}, { loss: term-mse, weight: 0.01 }]`, `teachers={ models: ["sparse:TEACHER"] }`],
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', short: 'o', default: 'objectives' },
    only: { type: 'string', default: Object.keys(RUNS).join(',') },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [data, weights] = positionals;
if (!data || !weights) throw new Error('usage: npx tsx runs/objectives.ts DATA WEIGHTS [-o FOLDER] [--only NAMES]');
const names = values.only.split(',');
for (const name of names) if (!RUNS[name]) throw new Error(`${name}: expected one of ${Object.keys(RUNS).join(', ')}`);
const large = prepareLearning(data, weights, values.output);
const setting = smallStart(large, weights);
const { folder, start } = setting;
const nfcorpus = setting.collection('nfcorpus');
const collection = await openCollection(nfcorpus, { split: 'dev' });

const systems = [{ name: 'start', model: start, minutes: 0 }, ...names.map((name) => ({ name, ...trained(name) }))];
const head = ['run', 'NDCG@10', 'FLOPS', 'Doc_Len', 'largest DF', 'postings a query', 'Σ postings', 'minutes'];
console.log(markdownHead(head));
for (const { name, model, minutes } of systems)
  console.log(markdownRow([name, ...(await measured(name, model)), minutes.toFixed(1)]));

/** The model of a run, which is made unless it is there, and how long its steps took, by its own count. */
function trained(name: string): { readonly model: string; readonly minutes: number } {
  const run = join(folder, 'objectives', name);
  const set = RUNS[name].map((one) => one.replace('TEACHER', large.start));
  trainOn(setting, run, [...set, ...values.set]);
  return { model: join(run, 'model'), minutes: minutesOf(run) };
}

/** Lines of metrics have the documents of their steps and how many of them a second took. */
function minutesOf(run: string): number {
  const lines = readFileSync(join(run, 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { config } = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8'));
  const numDocs = config.optim.batchQueries * config.data.docsPerQuery; // of a step
  const seconds = lines.map(
    ({ step, docsPerSecond }, i) => ((step - (lines[i - 1]?.step ?? 0)) * numDocs) / docsPerSecond,
  );
  return seconds.reduce((sum, own) => sum + own, 0) / 60;
}

/** Quality and costs through an index. */
async function measured(name: string, model: string): Promise<string[]> {
  const path = join(folder, 'objectives', `${name}.index`);
  if (!existsSync(path)) {
    rmSync(`${path}.part`, { recursive: true, force: true });
    lzero('index', nfcorpus, '-o', `${path}.part`, '--model', model);
    renameSync(`${path}.part`, path);
  }
  const index = await openIndex(path);
  try {
    const system = indexSystem(index, { name, id: name });
    const { run, costs } = await runSystem(system, collection, { k: 10 });
    const { mean } = evaluateRun(run, collection.qrels, { metrics: [METRIC], averageOver: 'judged' });
    const { largest, numPostings } = await postingLists(index);
    return [
      mean[METRIC].toFixed(4),
      costs?.flops.toFixed(3) ?? '–',
      costs?.docLen.toFixed(1) ?? '–',
      `${(100 * largest).toFixed(1)} %`,
      (numPostings / collection.queries.length).toFixed(0),
      String(numPostings),
    ];
  } finally {
    await index.close();
  }
}

/** The largest share of documents that a term of a query has, and the postings of all terms of all queries. */
async function postingLists(index: Index): Promise<{ readonly largest: number; readonly numPostings: number }> {
  const frequencies = index.frequencies();
  const { numDocs } = (await index.stats()).store;
  const lengths = collection.queries.flatMap(({ text = '' }) =>
    index.language.parse(text).terms.map(({ token }) => frequencies.get(token) ?? 0),
  );
  return {
    largest: Math.max(...lengths) / numDocs,
    numPostings: lengths.reduce((sum, length) => sum + length, 0),
  };
}
