/**
 * What `lzero reproduce --scale small` needs: four small sets to measure on, scored lists to train on that have nothing of them, and
 * the student to begin with.
 *
 *     npm run build && npx tsx runs/reproduce/prepare.ts DATA WEIGHTS -o FOLDER
 *     node dist/cli/main.js reproduce all --scale small -o FOLDER
 *
 * DATA is the unpacked folder of real data, WEIGHTS has splade-tiny and gte-small. Writes FOLDER/data; the same call goes on where
 * one was stopped. The student is splade-tiny for three reasons: its MLM head is a trained one, as the paper's is; two layers × 128 train
 * eight times as fast as MiniLM, so that 75 points fit into six hours; and its documents have 90 to 160 terms at 64 tokens, 0.4 of
 * the paper's, so that λ and t mean something. It has been trained with log(1 + relu) and FLOPS on MS MARCO before, so
 * its logits are scaled to what relu makes of them (student.ts).
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { evenlySpaced } from '../../src/core/index.ts';
import { lzero } from '../lib/lzero.ts';
import { KnownTexts } from '../model/overlap.ts';
import { bestFactor, type ScoredList, writeScaled } from './student.ts';

/** Tokens that student and teacher read. */
const LENGTH = 64;
/** Judged queries of a measured set at most, and documents. */
const MAX_QUERIES = 2000;
const MAX_DOCUMENTS = 5000;
/** Queries of a training source, and BM25's candidates for each. */
const TRAINING_QUERIES = 3000;
const NEGATIVES = 7;

/** Sets to measure on: name, folder, split. Of BoolQ only passages of its own split. */
const MEASURED = [
  { name: 'squadshifts-wiki', path: 'qa/squadshifts-wiki', split: 'train' },
  { name: 'boolq', path: 'qa/boolq', split: 'dev', judgedOnly: true },
  { name: 'covidfact', path: 'qa/covidfact', split: 'train' },
  { name: 'scifact', path: 'beir/scifact', split: 'test' },
];
/** Sources to train on. */
const TRAINING = [
  { name: 'squadshifts-reddit', path: 'qa/squadshifts-reddit', split: 'train' },
  { name: 'squadshifts-amazon', path: 'qa/squadshifts-amazon', split: 'train' },
  { name: 'medquad', path: 'qa/medquad', split: 'train' },
  { name: 'boolq-train', path: 'qa/boolq', split: 'train' },
];

type Text = { readonly _id: string; readonly title?: string; readonly text: string };
type Judgement = { readonly query: string; readonly document: string; readonly score: string };
type Collection = { readonly documents: Text[]; readonly queries: Text[]; readonly judgements: Judgement[] };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { output: { type: 'string', short: 'o', default: 'reproduce-small' } },
});
const [data, weights] = positionals;
if (!data || !weights) throw new Error('usage: npx tsx runs/reproduce/prepare.ts DATA WEIGHTS [-o FOLDER]');
const made = (...path: string[]): string => join(values.output, 'data', ...path);
const scratch = (...path: string[]): string => join(values.output, 'prepare', ...path);

const measured = new KnownTexts();
for (const { name, path, split, judgedOnly = false } of MEASURED) {
  const whole = readCollection(path, split);
  const cut = cutForMeasuring(whole, judgedOnly);
  for (const { text } of [...(judgedOnly ? cut : whole).documents, ...whole.queries]) measured.add(text);
  if (!existsSync(made(name))) writeCollection(made(name), cut, 'test');
  console.log(`${name}: ${cut.queries.length} queries, ${cut.documents.length} documents`);
}
for (const { name, path, split } of TRAINING) {
  if (!existsSync(scratch(name))) writeCollection(scratch(name), cutForTraining(readCollection(path, split)), 'train');
  const mined = scratch(`${name}.jsonl`);
  if (!existsSync(mined))
    lzero('mine', scratch(name), '-o', mined, '--negatives', String(NEGATIVES), '--positives', '1');
}
if (!existsSync(scratch('mined.jsonl')))
  writeWhole(
    scratch('mined.jsonl'),
    TRAINING.map(({ name }) => readFileSync(scratch(`${name}.jsonl`), 'utf8')).join(''),
  );
if (!existsSync(made('train.jsonl'))) {
  const teacher = `dense:${join(weights, 'gte-small')},pooling=mean,max-length=${LENGTH}`;
  lzero('teach', scratch('mined.jsonl'), '-o', made('train.jsonl'), '--teacher', teacher);
}
if (!existsSync(made('base'))) {
  importStudent(join(weights, 'splade-tiny'), scratch('splade-tiny'));
  const lists = readLines<ScoredList>(made('train.jsonl'));
  await writeScaled(
    join(weights, 'splade-tiny'),
    await bestFactor(scratch('splade-tiny'), lists),
    scratch('splade-tiny-scaled'),
  );
  importStudent(scratch('splade-tiny-scaled'), made('base'));
}
console.log(`prepared in ${made()}`);

function importStudent(checkpoint: string, folder: string): void {
  const options = ['--activation', 'relu', '--encode-length', String(LENGTH), '--idf', join(data, 'idf.json')];
  lzero('model', 'import', checkpoint, '-o', folder, '--force', ...options);
}

/** A collection, with the judged queries and the judgements above 0 of one split. */
function readCollection(path: string, split: string): Collection {
  const folder = join(data, 'collections', path);
  const judgements = readFileSync(join(folder, 'qrels', `${split}.tsv`), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .map(([query, document, score]) => ({ query, document, score }))
    .filter(({ score }) => Number(score) > 0);
  const judged = new Set(judgements.map(({ query }) => query));
  const queries = readLines(join(folder, 'queries.jsonl')).filter(({ _id }) => judged.has(_id));
  return { documents: readLines(join(folder, 'corpus.jsonl')), queries, judgements };
}

/** Queries at equal distances, all that they are judged on, and of the other documents the first that fit. */
function cutForMeasuring(whole: Collection, judgedOnly: boolean): Collection {
  const judged = new Set(whole.judgements.map(({ document }) => document));
  const room = judgedOnly ? 0 : MAX_DOCUMENTS - judged.size;
  const others = whole.documents.filter(({ _id }) => !judged.has(_id)).slice(0, Math.max(0, room));
  const kept = new Set([...judged, ...others.map(({ _id }) => _id)]);
  return restrict(evenlySpaced(whole.queries, MAX_QUERIES), kept, whole);
}

/** Queries and documents that no measured set has; documents that nobody asks for stay as candidates. */
function cutForTraining(whole: Collection): Collection {
  const free = new Set(whole.documents.filter(({ text }) => !measured.has(text)).map(({ _id }) => _id));
  const answered = new Set(whole.judgements.filter(({ document }) => free.has(document)).map(({ query }) => query));
  const queries = whole.queries.filter(({ _id, text }) => answered.has(_id) && !measured.has(text));
  const chosen = evenlySpaced(queries, TRAINING_QUERIES);
  console.log(
    `${chosen.length} of ${queries.length} queries, ${free.size} of ${whole.documents.length} documents are free to train on`,
  );
  return restrict(chosen, free, whole);
}

function restrict(queries: Text[], documents: ReadonlySet<string>, whole: Collection): Collection {
  const asked = new Set(queries.map(({ _id }) => _id));
  return {
    documents: whole.documents.filter(({ _id }) => documents.has(_id)),
    queries,
    judgements: whole.judgements.filter(({ query, document }) => asked.has(query) && documents.has(document)),
  };
}

function writeCollection(folder: string, { documents, queries, judgements }: Collection, split: string): void {
  const unfinished = `${folder}.unfinished`;
  const linesOf = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const rows = judgements.map(({ query, document, score }) => `${query}\t${document}\t${score}\n`);
  writeWhole(join(unfinished, 'corpus.jsonl'), linesOf(documents));
  writeWhole(join(unfinished, 'queries.jsonl'), linesOf(queries));
  writeWhole(join(unfinished, 'qrels', `${split}.tsv`), `query-id\tcorpus-id\tscore\n${rows.join('')}`);
  renameSync(unfinished, folder);
}

function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}

function readLines<T = Text>(path: string): T[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}
