/**
 * The public table of the model: every system on every set, with costs, index sizes and significance against BM25.
 *
 *     npm run build && npx tsx runs/model/table.ts DATA WORK WEIGHTS MODEL [--sets scifact,cisi] [--systems bm25,ours] [--start FOLDER]
 *
 * MODEL is a float32 folder of ours with its lexical part. BM25 is the better of k1 0.9, b 0.4 and k1 1.2, b 0.75 on each
 * set. Indexes and runs stay in WORK/table: the same call goes on where one was stopped, and prints the table at its end.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { lzero } from '../lib/lzero.ts';
import { EVALUATION_SETS, type EvaluationSet, folderOf } from './evaluation.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    sets: { type: 'string', default: EVALUATION_SETS.map(({ name }) => name).join(',') },
    systems: { type: 'string' },
    start: { type: 'string' },
  },
});
const [data, work, weights, model] = positionals;
if (!data || !work || !weights || !model) throw new Error('usage: npx tsx runs/model/table.ts DATA WORK WEIGHTS MODEL');
const place = join(work, 'table');
mkdirSync(place, { recursive: true });

const words = made('ours-no-words', '--lexical', 'none');
const SYSTEMS: Readonly<Record<string, string>> = {
  bow: 'bow',
  ...(values.start && { start: values.start }),
  'splade-tiny': join(weights, 'splade-tiny'),
  'minilm dense': `dense:${join(weights, 'minilm-l6')},pooling=mean,max-length=256`,
  'gte-small dense': `dense:${join(weights, 'gte-small')},pooling=mean,max-length=256`,
  'ours, network alone': words,
  ours: model,
  'ours, int8': quantised(),
  'rrf of ours and bm25': `rrf:${model}+bm25`,
};
const systems = Object.entries(SYSTEMS).filter(([name]) => !values.systems || values.systems.split(',').includes(name));

type Row = Readonly<Record<string, number | string>> & { readonly system: string };
type Report = { readonly collections: readonly { readonly numQueries: number; readonly rows: readonly Row[] }[] };

const table = new Map<string, Map<string, Row>>();
const sets = EVALUATION_SETS.filter(({ name }) => values.sets.split(',').includes(name));
for (const set of sets) table.set(set.name, await measured(set));
print();

/** The model with another setting, made once. */
function made(name: string, ...options: readonly string[]): string {
  const folder = join(place, name);
  if (!existsSync(folder)) lzero('model', 'import', model, '-o', folder, ...options);
  return folder;
}

function quantised(): string {
  const folder = join(place, 'ours-int8');
  if (!existsSync(folder)) lzero('model', 'quantize', model, '-o', folder);
  return folder;
}

/** All systems on a set, against the better BM25. */
async function measured(set: EvaluationSet): Promise<Map<string, Row>> {
  const folder = await folderOf(set, data, work);
  const other = join(place, `${set.name}-bm25.index`);
  if (!existsSync(other)) lzero('index', folder, '-o', other, '--bm25', '--k1', '1.2', '--b', '0.75');
  const [first, second] = evaluated(set, folder, ['bm25', `index:${other}`]).map((row) => Number(row['ndcg@10']));
  const baseline = first >= second ? 'bm25' : `index:${other}`;
  const names = systems.map(([, name]) => name.replace('+bm25', `+${baseline}`));
  const rows = evaluated(set, folder, [baseline, ...names]);
  return new Map(['bm25', ...systems.map(([name]) => name)].map((name, i) => [name, rows[i]]));
}

function evaluated({ name, split }: EvaluationSet, folder: string, names: readonly string[]): readonly Row[] {
  const key = join(place, `${name}-${names.length}.json`);
  const argv = ['eval', folder, '--split', split, '--run-dir', join(place, name), '--json'];
  const answer = lzero(...argv, ...names.flatMap((system) => ['--system', system]));
  writeFileSync(key, answer);
  const { collections }: Report = JSON.parse(readFileSync(key, 'utf8'));
  return collections[0].rows;
}

function print(): void {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const columns = [...sets.filter(({ counted }) => counted), ...sets.filter(({ counted }) => !counted)];
  const names = ['bm25', ...systems.map(([name]) => name)];
  const cell = (system: string, set: string): number => Number(table.get(set)?.get(system)?.['ndcg@10'] ?? Number.NaN);
  const mean = (system: string, of: readonly EvaluationSet[]): string =>
    of.length === 0 ? '–' : (of.reduce((total, { name }) => total + cell(system, name), 0) / of.length).toFixed(4);
  const titles = columns.map(({ name, counted }) => (counted ? name : `${name} (tuned)`));
  console.log(row(['NDCG@10', ...titles, 'mean of counted', 'mean of tuned', 'FLOPS', 'Doc_Len']));
  console.log(row(Array.from({ length: columns.length + 5 }, () => '-')));
  for (const name of names) {
    const costs = (key: string): string => {
      const known = columns.map(({ name: set }) => Number(table.get(set)?.get(name)?.[key])).filter(Number.isFinite);
      return known.length === 0 ? '–' : (known.reduce((a, b) => a + b, 0) / known.length).toFixed(2);
    };
    const [counted, tuned] = [true, false].map((which) => columns.filter((set) => set.counted === which));
    console.log(
      row([
        name,
        ...columns.map((set) => cell(name, set.name).toFixed(4)),
        mean(name, counted),
        mean(name, tuned),
        costs('flops'),
        costs('docLen'),
      ]),
    );
  }
}
