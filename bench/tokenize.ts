/**
 * Speed of tokenising and of encoding queries: ours against @huggingface/tokenizers, by turns in one process; and the
 * size of the compact query side.
 *
 *     npx tsx bench/tokenize.ts [DATA] [--json results.json]
 *
 * Queries are ten words long. With DATA (the unpacked real data) they are made from MS MARCO's queries and the documents
 * are SciFact's, and the size is also that of MS MARCO's IDF table; without it both are words drawn from the vocabulary
 * with a fixed seed. The bars: at most 30 µs a query, at most 90 KB gzip under the sorted numbering.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Tokenizer as Library } from '@huggingface/tokenizers';
import { z } from 'zod';
import { Random } from '../src/core/index.ts';
import {
  createTokenizer,
  decodeQuerySide,
  encodeQuery,
  encodeQuerySide,
  parseIdf,
  type QuerySide,
  type Tokenizer,
} from '../src/text/index.ts';
import { tokenizerJson } from '../test/golden/text/fixtures.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atMost, type Part, printPart, writeResults } from './lib/report.ts';
import { spread } from './lib/statistics.ts';

const MODEL = resolve(import.meta.dirname, '../models/bow');
const QUERY_WORDS = 10;
const BAR_US = 30;
const BAR_KB = 90;
const START_ROUNDS = 5;
const ROUNDS = 15;
const WARM_UP_ROUNDS = 3;

type Texts = { readonly queries: readonly string[]; readonly documents: readonly string[]; readonly from: string };

function realTexts(data: string): Texts {
  const lines = readFileSync(join(data, 'tokenizer/wordpiece/msmarco-dev.txt'), 'utf8').trim().split('\n');
  const words = lines.flatMap((line) =>
    line
      .slice(line.indexOf('\t') + 1)
      .trim()
      .split(/\s+/),
  );
  const row = z.object({ title: z.string(), text: z.string() });
  const corpus = readFileSync(join(data, 'collections/beir/scifact/corpus.jsonl'), 'utf8').trim().split('\n');
  const documents = corpus.slice(0, 2000).map((line) => row.parse(JSON.parse(line)));
  return {
    queries: inTens(words).slice(0, 2000),
    documents: documents.map(({ title, text }) => `${title} ${text}`),
    from: 'MS MARCO queries, 2,000 SciFact documents',
  };
}

function drawnTexts(tokenizer: Tokenizer): Texts {
  const random = new Random(42);
  const words = tokenizer.vocabulary.tokens.filter((token) => /^[a-z]+$/.test(token));
  const draw = (count: number): string[] => Array.from({ length: count }, () => words[random.below(words.length)]);
  return {
    queries: inTens(draw(20_000)),
    documents: Array.from({ length: 1000 }, () => `${draw(200).join(' ')}.`),
    from: 'words drawn from the vocabulary',
  };
}

function inTens(words: readonly string[]): string[] {
  const count = Math.floor(words.length / QUERY_WORDS);
  return Array.from({ length: count }, (_, i) => words.slice(i * QUERY_WORDS, (i + 1) * QUERY_WORDS).join(' '));
}

type Contender = { readonly name: string; run(text: string): number };
/** Milliseconds of each round, and the sum of what one round returned, so that nothing is skipped. */
type Rounds = { readonly ms: number[]; sum: number };

/** All contenders by turns, after a warm-up. */
function race(contenders: readonly Contender[], texts: readonly string[]): Map<string, Rounds> {
  const results = new Map<string, Rounds>(contenders.map(({ name }) => [name, { ms: [], sum: 0 }]));
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const { name, run } of contenders) {
      const start = performance.now();
      let sum = 0;
      for (const text of texts) sum += run(text);
      const result = results.get(name);
      if (round >= 0) result?.ms.push(performance.now() - start);
      if (result) result.sum = sum;
    }
  }
  return results;
}

/** From the files of a model, or from the compact query side, to the first query. */
async function startPart(): Promise<Part> {
  const fromFiles: number[] = [];
  const fromPacked: number[] = [];
  const packed = encodeQuerySide(await embeddedSide(), { numbering: 'sorted' });
  for (let round = 0; round < START_ROUNDS; round++) {
    const start = performance.now();
    await embeddedSide();
    fromFiles.push(performance.now() - start);
    const unpackStart = performance.now();
    decodeQuerySide(packed);
    fromPacked.push(performance.now() - unpackStart);
  }
  const rows = [
    { name: 'vocab.txt and idf.json', unit: 'ms', value: spread(fromFiles) },
    { name: 'compact query side', unit: 'ms', value: spread(fromPacked) },
  ];
  return { title: 'Start', rows, claims: [] };
}

async function embeddedSide(): Promise<QuerySide> {
  const tokenizer = await createTokenizer({ vocabTxt: readFileSync(join(MODEL, 'vocab.txt'), 'utf8'), label: MODEL });
  return { tokenizer, idf: parseIdf(readFileSync(join(MODEL, 'idf.json'), 'utf8'), tokenizer.vocabulary, 'idf.json') };
}

/** Bytes of the compact query side, raw and gzip, under both numberings. 1 KB = 1,000 bytes. */
function sizePart(table: string, side: QuerySide): Part {
  const sizes = (['sorted', 'vocabulary'] as const).map((numbering) => {
    const bytes = encodeQuerySide(side, { numbering });
    return { numbering, raw: bytes.length / 1000, gzip: gzipSync(bytes, { level: 9 }).length / 1000 };
  });
  const rows = sizes.flatMap(({ numbering, raw, gzip }) => [
    { name: `numbering '${numbering}', raw`, unit: 'KB', value: spread([raw]) },
    { name: `numbering '${numbering}', gzip`, unit: 'KB', value: spread([gzip]) },
  ]);
  const claims = [atMost("numbering 'sorted', gzip", sizes[0].gzip, { limit: BAR_KB, unit: 'KB' })];
  return { title: `Size of the compact query side, ${table}`, rows, claims };
}

function queryPart(side: QuerySide, library: Library, { queries, from }: Texts): Part {
  const ours = 'query vector, ours';
  const results = race(
    [
      { name: ours, run: (text) => encodeQuery(side, text).vector.terms.length },
      { name: 'tokens only, ours', run: (text) => side.tokenizer.encode(text).length },
      { name: 'tokens only, library', run: (text) => libraryIds(library, text).length },
    ],
    queries,
  );
  const rows = [...results].map(([name, { ms }]) => ({
    name,
    unit: 'µs',
    value: spread(ms.map((time) => (time * 1000) / queries.length)),
  }));
  const claims = rows
    .filter(({ name }) => name === ours)
    .map(({ name, value }) => atMost(name, value.median, { limit: BAR_US, unit: 'µs' }));
  return { title: `Queries of ten words, ${queries.length} a round, ${from}`, rows, claims };
}

function documentPart({ tokenizer }: QuerySide, library: Library, { documents, from }: Texts): Part {
  const results = race(
    [
      { name: 'ours', run: (text) => tokenizer.encode(text).length },
      { name: 'library', run: (text) => libraryIds(library, text).length },
    ],
    documents,
  );
  const rows = [...results].map(([name, { ms, sum }]) => ({
    name: `${name} (${sum} tokens)`,
    unit: 'million tokens/s',
    value: spread(ms.map((time) => sum / time / 1000)),
  }));
  return { title: `Documents, ${documents.length} a round, ${from}`, rows, claims: [] };
}

function libraryIds(library: Library, text: string): number[] {
  return library.encode(text, { add_special_tokens: false }).ids;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { json: { type: 'string' } }, allowPositionals: true });
  if (positionals.length > 1) throw new Error(`expected one folder of data, got ${positionals.join(', ')}`);
  const [data] = positionals;
  const where = await circumstances();
  console.log(`${describe(where)}\n${ROUNDS} rounds by turns: median (least … most)`);
  const parts: Part[] = [];
  const report = (part: Part): void => {
    printPart(part);
    parts.push(part);
  };
  const side = await embeddedSide();
  const library = new Library(tokenizerJson(side.tokenizer.vocabulary.tokens), {});
  const texts = data ? realTexts(data) : drawnTexts(side.tokenizer);
  report(await startPart());
  report(sizePart('embedded table', side));
  if (data) {
    const idf = parseIdf(readFileSync(join(data, 'idf.json'), 'utf8'), side.tokenizer.vocabulary, 'idf.json');
    report(sizePart("MS MARCO's table", { ...side, idf }));
  }
  report(queryPart(side, library, texts));
  report(documentPart(side, library, texts));
  if (values.json) writeResults(values.json, where, parts);
}

await main();
