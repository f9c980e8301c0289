/**
 * The worked example of docs/TRAINING.md: the embedded model, adapted to the documentation of Python, once without a query and
 * once with pairs of clicks. Titles of pages are the queries; every second one is taken for a query that somebody has clicked
 * for, the others are what is measured; how many of those are among the queries that were made of the documents is printed.
 *
 *     npm run build && npx tsx runs/model/adapt.ts DATA WORK WEIGHTS
 *
 * WEIGHTS has gte-small. Everything stays in WORK/adapt; the same call goes on where one was stopped.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { lzero } from '../lib/lzero.ts';
import { trainOnce } from '../lib/train-once.ts';
import { EVALUATION_SETS, folderOf } from './evaluation.ts';

const CONFIG = resolve(import.meta.dirname, '../../configs/adapt.yaml');

const [data, work, weights] = process.argv.slice(2);
if (!data || !work || !weights) throw new Error('usage: npx tsx runs/model/adapt.ts DATA WORK WEIGHTS');
const place = join(work, 'adapt');
process.env.LZERO_CACHE = place; // where `mine` keeps what the teacher has read, and training finds it
const teacher = `dense:${join(weights, 'gte-small')},pooling=mean,max-length=128,precision=int8`;
const collection = await splitCollection();
const corpus = join(collection, 'corpus.jsonl');

const pseudo = mined('pseudo', corpus, '--pseudo-queries', '--agreement', '3');
printMeasuredAmong(pseudo);
const clicks = mined('clicks', collection, '--split', 'train');
const runs = {
  'documents only': [{ path: pseudo, format: 'triples' }],
  'documents and clicks': [
    { path: pseudo, format: 'triples' },
    { path: clicks, format: 'triples', weight: 1 },
  ],
};
const adapted = Object.entries(runs).map(([name, train]) => trained(name.replaceAll(' ', '-'), train));
const systems = ['bm25', 'default', ...adapted].flatMap((system) => ['--system', system]);
console.log(
  lzero('eval', collection, '--precision', 'int8', '--split', 'test', '--run-dir', join(place, 'eval'), ...systems),
);

/** The collection of titles, every second query in the split train. */
async function splitCollection(): Promise<string> {
  const set = EVALUATION_SETS.find(({ name }) => name === 'python');
  if (!set) throw new Error('bug: there is no set of Python titles');
  const folder = join(place, 'python');
  if (existsSync(join(folder, 'qrels/train.tsv'))) return folder;
  const source = await folderOf(set, data, work);
  mkdirSync(join(folder, 'qrels'), { recursive: true });
  for (const file of ['corpus.jsonl', 'queries.jsonl']) cpSync(join(source, file), join(folder, file));
  const [head, ...rows] = readFileSync(join(source, 'qrels/test.tsv'), 'utf8').trimEnd().split('\n');
  const queries = [...new Set(rows.map((row) => row.split('\t')[0]))];
  const isClicked = (row: string): boolean => queries.indexOf(row.split('\t')[0]) % 2 === 0;
  writeFileSync(join(folder, 'qrels/test.tsv'), [head, ...rows.filter((row) => !isClicked(row)), ''].join('\n'));
  writeFileSync(join(folder, 'qrels/train.tsv'), [head, ...rows.filter(isClicked), ''].join('\n'));
  return folder;
}

/** Titles are left out of the passages, so that hardly any should be made again. */
function printMeasuredAmong(file: string): void {
  const texts = (path: string, key: 'query' | 'text'): string[] =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)[key].toLowerCase());
  const titles = new Set(texts(join(collection, 'queries.jsonl'), 'text'));
  const made = texts(file, 'query');
  console.log(`${made.filter((query) => titles.has(query)).length} of ${made.length} made queries are titles`);
}

function mined(name: string, input: string, ...options: readonly string[]): string {
  const file = join(place, `${name}.jsonl`);
  if (!existsSync(file)) lzero('mine', input, '-o', file, '--teacher', teacher, '--run-dir', place, ...options);
  return file;
}

function trained(name: string, train: readonly object[]): string {
  const run = join(place, name);
  const settings = [
    `data={ train: ${JSON.stringify(train)}, docsPerQuery: 2 }`,
    `teachers.models=${JSON.stringify([teacher])}`,
  ];
  const minutes = trainOnce(CONFIG, run, settings);
  if (minutes > 0) console.log(`${name}: ${minutes.toFixed(1)} minutes of training`);
  return join(run, 'model');
}
