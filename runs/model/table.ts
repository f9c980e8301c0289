/**
 * The public table of the model: every system on every set, with costs, index sizes and significance against BM25.
 *
 *     npm run build && npx tsx runs/model/table.ts DATA WORK WEIGHTS [--start FOLDER] \
 *         [--sets scifact,cisi] [--systems 'ours; bow'] [--print]
 *
 * `ours` is the embedded model as it ships, in codes; in float32 it has the encoder that it was quantised from. --start is what training began
 * with. BM25 is the better of k1 0.9, b 0.4 and k1 1.2, b 0.75 on each set. What is measured is kept in runs/model/results.json, by the identity of the
 * model: the same call goes on where one was stopped, and --print only prints. Indexes and runs are in WORK/table.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFileAtomically } from '../../src/files/index.ts';
import { chosenByName } from '../lib/chosen-by-name.ts';
import { lzero } from '../lib/lzero.ts';
import { markdownHead, markdownRow } from '../lib/markdown.ts';
import { EVALUATION_SETS, type EvaluationSet, folderOf } from './evaluation.ts';
import { writeFloatVectors } from './float-vectors.ts';
import { writeVectors } from './network-vectors.ts';

/** The model that ships. */
const OURS = 'default';
const RESULTS = resolve(import.meta.dirname, 'results.json');

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    start: { type: 'string' },
    sets: { type: 'string', default: EVALUATION_SETS.map(({ name }) => name).join(',') },
    systems: { type: 'string' },
    print: { type: 'boolean', default: false },
  },
});
const [data, work, weights] = positionals;
if (!values.print && (!data || !work || !weights))
  throw new Error('usage: npx tsx runs/model/table.ts DATA WORK WEIGHTS');

/** What one system has on one set. */
type Result = {
  /** Of the model that was measured; empty where the name says it all. */
  readonly identity: string;
  readonly ndcg: number;
  /** Δ to BM25 and its p, of the paired randomisation test; left out for BM25 itself. */
  readonly difference?: number;
  readonly p?: number;
  readonly flops?: number;
  readonly docLen?: number;
  /** Bytes of the postings for each document; texts are the same for all. */
  readonly indexBytes?: number;
};
/** By set, then by system. */
type Results = Record<string, Record<string, Result>>;

const results: Results = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {};
const sets = chosenByName(EVALUATION_SETS, values.sets, { option: '--sets' });
if (!values.print) {
  process.env.LZERO_CACHE = join(work, 'cache'); // where dense encoders keep what they have read
  await measureAll();
}
print();

/** A model that is indexed: whole, its network alone, fused with BM25, or the embedded one not in codes. */
type ModelSystem = { readonly name: string; readonly model: string; readonly as?: 'alone' | 'fused' | 'float32' };
/** A system: such a model, or a name that `lzero eval` knows. */
type System = ModelSystem | { readonly name: string; readonly spec: string };

/** A dense encoder, as `lzero eval` wants it named. */
function dense(name: string, options = 'pooling=mean'): string {
  return `dense:${join(weights, name)},${options},max-length=256`;
}

function systemsToMeasure(): System[] {
  const all: System[] = [
    { name: 'bow', model: 'bow' },
    ...(values.start ? [{ name: 'start', model: values.start }] : []),
    { name: 'splade-tiny', model: join(weights, 'splade-tiny') },
    { name: 'minilm dense', spec: dense('minilm-l6') },
    { name: 'gte-small dense', spec: dense('gte-small') },
    { name: 'bge-small dense', spec: dense('bge-small', 'pooling=cls') },
    { name: 'e5-small dense', spec: dense('e5-small', 'pooling=mean,query-prefix=query: ,document-prefix=passage: ') },
    { name: 'ours', model: OURS },
    { name: 'ours, network alone', model: OURS, as: 'alone' },
    { name: 'ours, float32', model: OURS, as: 'float32' },
    { name: 'rrf of ours and bm25', model: OURS, as: 'fused' },
  ];
  return values.systems === undefined
    ? all
    : chosenByName(all, values.systems, { option: '--systems', separator: ';' });
}

function identityOf(model: string): string {
  return JSON.parse(lzero('model', 'info', model, '--json')).identity;
}

async function measureAll(): Promise<void> {
  const place = join(work, 'table');
  mkdirSync(place, { recursive: true });
  const systems = systemsToMeasure();
  const identities = new Map(systems.map((system) => [system.name, 'model' in system ? identityOf(system.model) : '']));
  for (const set of sets) {
    const folder = await folderOf(set, data, work);
    const bm25 = await betterBm25(set, folder, place);
    for (const system of systems) {
      const identity = identities.get(system.name) ?? '';
      if (results[set.name][system.name]?.identity === identity) continue;
      const result =
        'model' in system ? await ofModel(system, identity) : resultOf(compared(set, folder, [bm25, system.spec]));
      await keep(set, system.name, { ...result, identity });
    }

    async function ofModel(system: ModelSystem, identity: string) {
      const { model, as } = system;
      const other = as === 'alone' || as === 'float32' ? `-${as}` : '';
      const index = join(place, set.name, `${identity.slice(0, 12)}${other}.index`);
      if (!isBuilt(index)) {
        const vectors = model === 'bow' ? [] : ['--vectors', await vectorsBy(system)];
        build(index, folder, '--model', model, ...vectors);
      }
      if (as === 'fused') return resultOf(compared(set, folder, [bm25, `rrf:index:${index}+${bm25}`]));
      return { ...resultOf(compared(set, folder, [bm25, `index:${index}`])), indexBytes: bytesPerDocument(index) };
    }

    function vectorsBy({ model, as }: ModelSystem): Promise<string> {
      const places = { data, work, set };
      if (as === 'float32') return writeFloatVectors(dense('gte-small'), join(work, 'cache/teachers'), places);
      return writeVectors(model, { ...places, alone: as === 'alone' });
    }
  }
}

type Row = {
  readonly 'ndcg@10': number;
  readonly flops?: number;
  readonly docLen?: number;
  readonly comparison?: { readonly difference: { readonly mean: number }; readonly p: number };
};

/** The last of some systems, compared with the first. */
function compared({ name, split }: EvaluationSet, folder: string, specs: readonly string[]): Row {
  const argv = ['eval', folder, '--split', split, '--run-dir', join(work, 'table', name, 'runs'), '--json'];
  const report = JSON.parse(lzero(...argv, ...specs.flatMap((spec) => ['--system', spec])));
  const [{ rows }]: readonly { readonly rows: readonly Row[] }[] = report.collections;
  return rows[rows.length - 1];
}

function resultOf({ 'ndcg@10': ndcg, flops, docLen, comparison }: Row): Omit<Result, 'identity'> {
  const difference = comparison && { difference: comparison.difference.mean, p: comparison.p };
  return { ndcg, ...difference, ...(flops !== undefined && { flops }), ...(docLen !== undefined && { docLen }) };
}

/** Indexes of both settings; the better one is kept as the result of bm25, and named for comparisons. */
async function betterBm25(set: EvaluationSet, folder: string, place: string): Promise<string> {
  const indexes = [
    ['0.9', '0.4'],
    ['1.2', '0.75'],
  ].map(([k1, b]) => {
    const index = join(place, set.name, `bm25-${k1}-${b}.index`);
    if (!isBuilt(index)) build(index, folder, '--bm25', '--k1', k1, '--b', b);
    return { index, result: resultOf(compared(set, folder, [`index:${index}`])) };
  });
  const [{ index, result }] = indexes.sort((a, b) => b.result.ndcg - a.result.ndcg);
  await keep(set, 'bm25', { ...result, identity: '', indexBytes: bytesPerDocument(index) });
  return `index:${index}`;
}

/** Builds an index, or goes on with one that was stopped; a note beside it says that it is whole. */
function build(index: string, folder: string, ...options: readonly string[]): void {
  lzero('index', folder, '-o', index, ...options);
  writeFileSync(`${index}.done`, '');
}

function isBuilt(index: string): boolean {
  return existsSync(`${index}.done`);
}

function bytesPerDocument(index: string): number {
  const { sizeBytes, numDocs } = JSON.parse(lzero('stats', index, '--json'));
  return sizeBytes.postings / numDocs;
}

async function keep({ name }: EvaluationSet, system: string, result: Result): Promise<void> {
  results[name] = { ...results[name], [system]: result };
  await writeFileAtomically(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
  process.stderr.write(`${name}, ${system}: ${result.ndcg.toFixed(4)}\n`);
}

function print(): void {
  const columns = [...sets.filter(({ counted }) => counted), ...sets.filter(({ counted }) => !counted)];
  const names = [...new Set(columns.flatMap(({ name }) => Object.keys(results[name] ?? {})))];
  const titles = columns.map(({ name, counted }) => (counted ? name : `${name} (tuned)`));
  console.log(markdownHead(['NDCG@10', ...titles, 'counted', 'FLOPS', 'Doc_Len', 'bytes']));
  /** NaN where a set is missing, or was measured with another model than the others. */
  const mean = (system: string, key: keyof Result, of: readonly EvaluationSet[]): number => {
    const own = of.map(({ name }) => results[name]?.[system]);
    if (new Set(own.map((result) => result?.identity)).size > 1) return Number.NaN;
    return own.reduce((sum, result) => sum + Number(result?.[key] ?? Number.NaN), 0) / of.length;
  };
  const shown = (value: number, digits: number): string => (Number.isNaN(value) ? '–' : value.toFixed(digits));
  const counted = columns.filter((set) => set.counted);
  for (const system of names)
    console.log(
      markdownRow([
        system,
        ...columns.map(({ name }) => cell(results[name]?.[system])),
        shown(mean(system, 'ndcg', counted), 4),
        shown(mean(system, 'flops', counted), 2),
        shown(mean(system, 'docLen', counted), 0),
        shown(mean(system, 'indexBytes', counted), 0),
      ]),
    );
  console.log(
    '\nMeans are over the counted sets. + and −: other than BM25, p < 0.05 (paired randomisation, each by itself).',
  );
}

function cell(result: Result | undefined): string {
  if (!result) return '–';
  const { ndcg, difference = 0, p = 1 } = result;
  return `${ndcg.toFixed(4)}${p >= 0.05 ? '' : difference > 0 ? ' +' : ' −'}`;
}
