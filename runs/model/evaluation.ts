/**
 * What the model is measured on. Counted sets are never trained on or tuned by; development sets choose settings. Nothing
 * of either is in the training data: prepare.ts drops what stands in one of them.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../src/core/index.ts';
import { chosenByName } from '../lib/chosen-by-name.ts';
import { pageTitle, rows } from './sources.ts';

/** A collection in BEIR layout, and its split. */
export type EvaluationSet = {
  readonly name: string;
  readonly split: string;
  /** Whether it counts in the average of the table; the others choose settings. */
  readonly counted: boolean;
  /** Where it is: below the collections of the data, made from the titles of a file of documentation, or made by another script. */
  readonly from: { readonly collection: string } | { readonly titlesOf: string } | { readonly made: string };
};

/** Every set of the table. */
export const EVALUATION_SETS: readonly EvaluationSet[] = [
  { name: 'cranfield', split: 'test', counted: true, from: { collection: 'classic/cranfield' } },
  { name: 'cisi', split: 'test', counted: true, from: { collection: 'classic/cisi' } },
  { name: 'dl21', split: 'test-dl21', counted: true, from: { collection: 'beir-mini/msmarco-v2-dl21-22-pool' } },
  { name: 'scifact', split: 'test', counted: true, from: { collection: 'beir/scifact' } },
  { name: 'git', split: 'test', counted: true, from: { titlesOf: 'git-doc' } },
  { name: 'sqlite', split: 'test', counted: true, from: { titlesOf: 'sqlite3-doc' } },
  { name: 'nfcorpus', split: 'dev', counted: false, from: { collection: 'beir/nfcorpus' } },
  { name: 'musique', split: 'test', counted: false, from: { collection: 'beir-mini/musique-498' } },
  { name: 'python', split: 'test', counted: false, from: { titlesOf: 'python3.11-doc' } },
  { name: 'linux', split: 'test', counted: false, from: { titlesOf: 'linux-doc-6.1' } },
];

/** A little of every development set (development.ts), for curves and comparisons of runs; no row of the table. */
export const DEVELOPMENT: EvaluationSet = {
  name: 'development',
  split: 'dev',
  counted: false,
  from: { made: 'development' },
};

/** The sets that --sets names, of the table or the development set. */
export function setsNamed(list: string): EvaluationSet[] {
  return chosenByName([...EVALUATION_SETS, DEVELOPMENT], list, { option: '--sets' });
}

/** The folder of a set; those of titles are made in `work` where they are missing. */
export async function folderOf({ name, from }: EvaluationSet, data: string, work: string): Promise<string> {
  if ('made' in from) return join(work, from.made);
  if ('collection' in from) return join(data, 'collections', from.collection);
  const folder = join(work, 'titles', name);
  if (!existsSync(join(folder, 'qrels/test.tsv')))
    await writeTitles(join(data, 'texts/docs', `${from.titlesOf}.jsonl`), folder);
  return folder;
}

/** Queries and passages of a collection of titles at most: more would only take longer. */
const MAX_QUERIES = 300;
const MAX_PASSAGES = 4_000;
/** Pages with more are indexes and logs, whose titles tell nothing of a passage. */
const MAX_PAGE_PASSAGES = 40;

type Passage = { readonly _id: string; readonly title: string; readonly text: string };

/**
 * Documentation whose page titles are the queries: relevant are the passages of the page. Titles are left out of the
 * passages, else a search for words would find them by their heading. Pages of one passage, titles of one word and those
 * that several pages have ask for too little.
 */
async function writeTitles(file: string, folder: string): Promise<void> {
  const pages = await pagesOf(file);
  const titles = [...pages.values()].map(([{ title }]) => pageTitle(title));
  const isOwn = (title: string): boolean => titles.indexOf(title) === titles.lastIndexOf(title);
  const kept = new Map<string, readonly Passage[]>();
  let numPassages = 0;
  for (const page of new Random(pages.size).shuffle([...pages.keys()])) {
    const passages = pages.get(page) ?? [];
    if (passages.length > MAX_PAGE_PASSAGES || numPassages + passages.length > MAX_PASSAGES) continue;
    kept.set(page, passages);
    numPassages += passages.length;
  }
  const corpus = [...kept.values()]
    .flat()
    .map(({ _id, title, text }) => ({ _id, text: withoutTitle(text, pageTitle(title)) }));
  const queries = [...kept]
    .map(([_id, passages]) => ({ _id, text: pageTitle(passages[0].title), numPassages: passages.length }))
    .filter(({ text, numPassages }) => numPassages > 1 && (text.match(/[\p{L}\d]+/gu) ?? []).length > 1 && isOwn(text))
    .slice(0, MAX_QUERIES);
  const judgements = queries.flatMap(({ _id }) =>
    (kept.get(_id) ?? []).map((passage) => `${_id}\t${passage._id}\t1\n`),
  );
  mkdirSync(join(folder, 'qrels'), { recursive: true });
  writeFileSync(join(folder, 'corpus.jsonl'), linesOf(corpus));
  writeFileSync(join(folder, 'queries.jsonl'), linesOf(queries.map(({ _id, text }) => ({ _id, text }))));
  writeFileSync(join(folder, 'qrels/test.tsv'), `query-id\tcorpus-id\tscore\n${judgements.join('')}`);
  console.log(`${folder}: ${queries.length} titles over ${corpus.length} passages`);
}

async function pagesOf(file: string): Promise<Map<string, Passage[]>> {
  const pages = new Map<string, Passage[]>();
  for await (const row of rows<Passage>(file)) {
    const page = row._id.replace(/#\d+$/, '');
    const passages = pages.get(page);
    if (passages) passages.push(row);
    else pages.set(page, [row]);
  }
  return pages;
}

function withoutTitle(text: string, title: string): string {
  return text.startsWith(title) && text.length > title.length ? text.slice(title.length).trimStart() : text;
}

/** Objects as lines of JSON. */
export function linesOf(items: readonly object[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join('');
}
