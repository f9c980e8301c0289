/**
 * Makes models/bow/idf.json, the IDF table that ships: general English, from texts whose licences allow it.
 *
 *     npx tsx runs/idf.ts DATA        (or LZERO_SHARED_DATA=DATA npx tsx runs/idf.ts)
 *
 * DATA is the unpacked folder of real data. Every source is cut or joined to passages of 40 to 120 words, so that "in how
 * many documents" means the same everywhere, and gives at most its cap, evenly spaced, so that no subject makes its own
 * words common. MS MARCO's table, if DATA has it, is only compared with. What the model is measured on (SciFact,
 * NFCorpus, Cranfield, the documentation of Git, SQLite, Python and Linux, …) is left out: a table that has seen it would
 * flatter us.
 */
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { evenlySpaced } from '../src/core/index.ts';
import { createTokenizer, formatIdf, IdfCounter, type IdfTable, parseIdf, type Vocabulary } from '../src/text/index.ts';

const MODEL = resolve(import.meta.dirname, '../models/bow');
const MIN_WORDS = 40;
const MAX_WORDS = 120;
const DECIMALS = 4;

type Source = { readonly file: string; readonly licence: string; readonly cap: number };

/** Seven tenths encyclopaedia, everyday questions and reviews; the rest dictionary, medicine and a little computing. */
const SOURCES: readonly Source[] = [
  { file: 'texts/pairs/wiki-summaries.jsonl', licence: 'CC BY-SA', cap: 12_000 },
  { file: 'texts/pairs/boolq-train.jsonl', licence: 'CC BY-SA', cap: 12_000 },
  { file: 'collections/qa/squad-sentences/corpus.jsonl', licence: 'CC BY-SA', cap: 6_000 },
  { file: 'collections/qa/squadshifts-wiki/corpus.jsonl', licence: 'CC BY', cap: 3_000 },
  { file: 'collections/qa/squadshifts-reddit/corpus.jsonl', licence: 'CC BY', cap: 3_000 },
  { file: 'collections/qa/squadshifts-amazon/corpus.jsonl', licence: 'CC BY', cap: 3_000 },
  { file: 'texts/definitions/wordnet-glosses.jsonl', licence: 'WordNet', cap: 8_000 },
  { file: 'collections/qa/medquad/corpus.jsonl', licence: 'CC BY', cap: 2_500 },
  { file: 'collections/qa/pubmedqa-l/corpus.jsonl', licence: 'MIT', cap: 1_000 },
  { file: 'collections/qa/debian-packages/corpus.jsonl', licence: 'Debian', cap: 800 },
  { file: 'texts/docs/debian-handbook.jsonl', licence: 'Debian', cap: 350 },
  { file: 'texts/docs/manpages.jsonl', licence: 'Debian', cap: 350 },
  { file: 'texts/docs/nodejs-doc.jsonl', licence: 'Debian', cap: 350 },
];

const rowSchema = z.object({ title: z.string().default(''), terms: z.array(z.string()).default([]), text: z.string() });

async function* rows(path: string): AsyncGenerator<string> {
  const seen = new Set<string>();
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { title, terms, text } = rowSchema.parse(JSON.parse(line));
    if (seen.has(text)) continue; // BoolQ asks several questions about one passage
    seen.add(text);
    yield [title, terms.join(', '), text].filter((part) => part !== '').join(' ');
  }
}

/** Joins short texts with their neighbours and cuts long ones. */
async function passagesOf(path: string): Promise<string[]> {
  const passages: string[] = [];
  const words: string[] = [];
  for await (const row of rows(path)) {
    words.push(...row.split(/\s+/).filter((word) => word !== ''));
    while (words.length > MAX_WORDS) passages.push(words.splice(0, MAX_WORDS).join(' '));
    if (words.length >= MIN_WORDS) passages.push(words.splice(0).join(' '));
  }
  return words.length > 0 ? [...passages, words.join(' ')] : passages;
}

function rounded(table: IdfTable): IdfTable {
  return { values: table.values.map((value) => Number(value.toFixed(DECIMALS))) };
}

function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const rank = new Array<number>(values.length);
  for (let start = 0; start < order.length; ) {
    let end = start;
    while (end < order.length && values[order[end]] === values[order[start]]) end++;
    for (let i = start; i < end; i++) rank[order[i]] = (start + end - 1) / 2;
    start = end;
  }
  return rank;
}

function pearson(a: readonly number[], b: readonly number[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  const product = (x: readonly number[], mx: number, y: readonly number[], my: number): number =>
    x.reduce((sum, value, i) => sum + (value - mx) * (y[i] - my), 0);
  return product(a, meanA, b, meanB) / Math.sqrt(product(a, meanA, a, meanA) * product(b, meanB, b, meanB));
}

function compare(ours: IdfTable, theirs: IdfTable, ids: readonly number[]): string {
  const a = ids.map((id) => ours.values[id]);
  const b = ids.map((id) => theirs.values[id]);
  return `Pearson ${pearson(a, b).toFixed(4)}, Spearman ${pearson(ranks(a), ranks(b)).toFixed(4)}`;
}

function printComparison(ours: IdfTable, df: Uint32Array, data: string, vocabulary: Vocabulary): void {
  const path = join(data, 'idf.json');
  if (!existsSync(path)) return;
  const theirs = parseIdf(readFileSync(path, 'utf8'), vocabulary, path);
  const seen = Array.from(df, (_, id) => id).filter((id) => df[id] > 0);
  const common = seen.filter((id) => df[id] >= 10);
  console.log(`against MS MARCO (measured only): ${seen.length} tokens seen: ${compare(ours, theirs, seen)}`);
  console.log(`  ${common.length} tokens in 10 passages or more: ${compare(ours, theirs, common)}`);
}

async function main(): Promise<void> {
  const data = process.argv[2] ?? process.env.LZERO_SHARED_DATA;
  if (!data) throw new Error('usage: npx tsx runs/idf.ts DATA');
  const tokenizer = await createTokenizer({ vocabTxt: readFileSync(join(MODEL, 'vocab.txt'), 'utf8'), label: MODEL });
  const counter = new IdfCounter(tokenizer);
  for (const { file, licence, cap } of SOURCES) {
    const all = await passagesOf(join(data, file));
    const taken = evenlySpaced(all, cap);
    for (const passage of taken) counter.add(passage);
    console.log(
      `${String(taken.length).padStart(6)} of ${String(all.length).padStart(6)} passages  ${file}  (${licence})`,
    );
  }
  const { vocabulary } = tokenizer;
  const table = rounded(counter.table());
  writeFileSync(join(MODEL, 'idf.json'), formatIdf(table, vocabulary));
  const df = counter.documentFrequencies();
  console.log(`N = ${counter.numDocs}; ${df.filter((count) => count > 0).length} of ${vocabulary.size} tokens seen`);
  for (const token of ['.', 'the', 'what', 'is', 'weather', 'linux', 'patient', 'file', 'python', 'ny', 'zebra']) {
    const id = vocabulary.idOf(token) ?? -1;
    console.log(`  ${token.padEnd(8)} df ${String(df[id]).padStart(6)}  idf ${table.values[id].toFixed(DECIMALS)}`);
  }
  printComparison(table, df, data, vocabulary);
}

await main();
