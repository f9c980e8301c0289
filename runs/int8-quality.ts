/**
 * What int8 costs in quality: NDCG@10 of fp32 and int8 with real weights on real collections, by `lzero eval`.
 *
 *     npm run build && npx tsx runs/int8-quality.ts DATA WEIGHTS [--encode-length 256] [--only splade-tiny,minilm-l6]
 *
 * DATA is the unpacked folder of real data (collections/beir/scifact and nfcorpus), WEIGHTS that of Hugging Face
 * checkpoints: splade-tiny with its own head, minilm-l6 with a tied head calibrated on SciFact. SciFact is judged on its
 * test split, NFCorpus on dev. int8 may become the default (src/model/int8/precision.ts) only if no figure falls by more
 * than 0.5 %; exits with 1 if one does. A quarter of an hour on two quiet cores, most of it MiniLM.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { PRECISIONS, type Precision } from '../src/model/index.ts';
import { lzero } from './lib/lzero.ts';

/** How much of NDCG@10 may be lost. */
const LIMIT = 0.005;
const METRIC = 'ndcg@10';
const COLLECTIONS = [
  { name: 'scifact', split: 'test' },
  { name: 'nfcorpus', split: 'dev' },
] as const;
const MODELS = ['splade-tiny', 'minilm-l6'] as const;

const reportSchema = z.object({
  collections: z.array(z.object({ rows: z.array(z.object({ [METRIC]: z.number(), docLen: z.number() })) })),
});

/** A model folder of a checkpoint; one without a head gets a tied one. */
function importModel(
  model: string,
  { checkpoint, data, length }: { checkpoint: string; data: string; length: string },
) {
  const isTied = checkpoint.endsWith('minilm-l6');
  const head = isTied ? ['--head', 'tied', '--calibrate', join(data, 'collections/beir/scifact')] : [];
  lzero('model', 'import', checkpoint, '-o', model, '--encode-length', length, ...head);
}

type Figures = { readonly ndcg: number; readonly docLen: number; readonly seconds: number };

function evaluate(model: string, collection: string, { split, precision }: { split: string; precision: Precision }) {
  const start = performance.now();
  const options = ['--split', split, '--precision', precision, '-m', METRIC, '--json', '--quiet'];
  const report = reportSchema.parse(JSON.parse(lzero('eval', collection, '--system', model, ...options)));
  const [row] = report.collections[0].rows;
  return { ndcg: row[METRIC], docLen: row.docLen, seconds: (performance.now() - start) / 1000 };
}

/** One line a model and collection; gives by how much int8 is worse, as a share. */
function compare(name: string, model: string, { data, on }: { data: string; on: (typeof COLLECTIONS)[number] }) {
  const folder = join(data, 'collections/beir', on.name);
  const figures = PRECISIONS.map((precision): Figures => evaluate(model, folder, { split: on.split, precision }));
  const [fp32, int8] = figures;
  const loss = 1 - int8.ndcg / fp32.ndcg;
  const [terms, seconds] = [figures.map((f) => f.docLen.toFixed(1)), figures.map((f) => f.seconds.toFixed(0))];
  console.log(
    `${name.padEnd(12)} ${on.name.padEnd(9)} ${on.split.padEnd(5)} fp32 ${fp32.ndcg.toFixed(4)}  int8 ${int8.ndcg.toFixed(4)}  ` +
      `change ${(-100 * loss).toFixed(2)} %  terms ${terms.join(' / ')}  seconds ${seconds.join(' / ')}`,
  );
  return loss;
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'encode-length': { type: 'string', default: '256' }, only: { type: 'string' } },
});
const [data, weights] = positionals;
if (!data || !weights) throw new Error('usage: npx tsx runs/int8-quality.ts DATA WEIGHTS');
const wanted: readonly string[] = values.only?.split(',') ?? MODELS;
const unknown = wanted.filter((name) => !MODELS.some((model) => model === name));
if (unknown.length > 0) throw new Error(`--only ${unknown.join(',')}: expected ${MODELS.join(', ')}`);
const scratch = mkdtempSync(join(tmpdir(), 'lzero-int8-'));
try {
  const losses: number[] = [];
  for (const name of MODELS.filter((model) => wanted.includes(model))) {
    const model = join(scratch, name);
    importModel(model, { checkpoint: join(weights, name), data, length: values['encode-length'] });
    for (const on of COLLECTIONS) losses.push(compare(name, model, { data, on }));
  }
  const worst = Math.max(...losses);
  console.log(`largest loss ${(100 * worst).toFixed(2)} %, limit ${100 * LIMIT} %`);
  if (!(worst <= LIMIT)) process.exitCode = 1; // also where one is no number
} finally {
  rmSync(scratch, { recursive: true });
}
