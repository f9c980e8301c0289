/**
 * Speed of tokenising and of encoding queries: ours against @huggingface/tokenizers, by turns in one process.
 *
 *     npx tsx bench/tokenize.ts [DATA]
 *
 * Queries are ten words long. With DATA (the unpacked real data) they are made from MS MARCO's queries and the documents
 * are SciFact's; without it both are words drawn from the vocabulary with a fixed seed. The bar: at most 30 µs a query.
 */
import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { Tokenizer as Library } from '@huggingface/tokenizers';
import { z } from 'zod';
import { Random } from '../src/core/index.ts';
import {
  createTokenizer,
  decodeQuerySide,
  encodeQuery,
  encodeQuerySide,
  parseIdf,
  type Tokenizer,
} from '../src/text/index.ts';

const MODEL = resolve(import.meta.dirname, '../models/bow');
const QUERY_WORDS = 10;
const BAR_US = 30;
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

/** Milliseconds of each round for each contender, by turns; what they return is summed so that nothing is skipped. */
function race(contenders: readonly Contender[], texts: readonly string[]): Map<string, { ms: number[]; sum: number }> {
  const results = new Map(contenders.map(({ name }) => [name, { ms: [] as number[], sum: 0 }]));
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

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.round(share * (sorted.length - 1))];
}

function spread(values: readonly number[], digits: number): string {
  const [low, median, high] = [0, 0.5, 1].map((share) => quantile(values, share).toFixed(digits));
  return `median ${median} (${low} … ${high})`;
}

function printMachine(): void {
  const info = existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'utf8') : '';
  const flags = (/^flags\s*:(.*)$/m.exec(info)?.[1] ?? '')
    .split(' ')
    .filter((flag) => /^(sse4_2|avx|fma|amx)/.test(flag));
  console.log(
    `${new Date().toISOString()}  Node ${process.version}  ${cpus()[0]?.model ?? 'unknown CPU'} × ${cpus().length}`,
  );
  console.log(`CPU flags: ${flags.join(' ') || 'unknown'}; load ${loadavg()[0].toFixed(2)}; ${ROUNDS} rounds by turns`);
}

async function main(): Promise<void> {
  const vocabTxt = readFileSync(join(MODEL, 'vocab.txt'), 'utf8');
  const idfJson = readFileSync(join(MODEL, 'idf.json'), 'utf8');
  printMachine();
  const start = performance.now();
  const tokenizer = await createTokenizer({ vocabTxt, label: MODEL });
  const idf = parseIdf(idfJson, tokenizer.vocabulary, 'idf.json');
  console.log(`start from vocab.txt and idf.json: ${(performance.now() - start).toFixed(0)} ms`);
  const packed = encodeQuerySide({ tokenizer, idf }, { numbering: 'sorted' });
  const unpackStart = performance.now();
  decodeQuerySide(packed);
  console.log(`start from the compact query side: ${(performance.now() - unpackStart).toFixed(0)} ms`);

  const library = new Library(libraryJson(tokenizer), {});
  const libraryIds = (text: string): number[] => library.encode(text, { add_special_tokens: false }).ids;
  const { queries, documents, from } = process.argv[2] ? realTexts(process.argv[2]) : drawnTexts(tokenizer);
  console.log(`texts: ${from}`);
  printQueries(
    race(
      [
        { name: 'query vector, ours', run: (text) => encodeQuery({ tokenizer, idf }, text).vector.terms.length },
        { name: 'tokens only, ours', run: (text) => tokenizer.encode(text).length },
        { name: 'tokens only, library', run: (text) => libraryIds(text).length },
      ],
      queries,
    ),
    queries.length,
  );
  printDocuments(
    race(
      [
        { name: 'ours', run: (text) => tokenizer.encode(text).length },
        { name: 'library', run: (text) => libraryIds(text).length },
      ],
      documents,
    ),
  );
}

function printQueries(results: ReturnType<typeof race>, numQueries: number): void {
  console.log(`µs per query of ten words (${numQueries} queries a round; bar ${BAR_US}):`);
  for (const [name, { ms }] of results) {
    const us = ms.map((time) => (time * 1000) / numQueries);
    console.log(`  ${name.padEnd(22)} ${spread(us, 2)}`);
  }
}

function printDocuments(results: ReturnType<typeof race>): void {
  console.log('million tokens per second, documents:');
  for (const [name, { ms, sum }] of results) {
    const rate = ms.map((time) => sum / time / 1000);
    console.log(`  ${name.padEnd(22)} ${spread(rate, 2)}  (${sum} tokens)`);
  }
}

/** The same tokenizer as tokenizer.json describes it. */
function libraryJson({ vocabulary }: Tokenizer): object {
  const added = [...vocabulary.specialIds].map((id) => ({
    id,
    content: vocabulary.tokens[id],
    special: true,
    normalized: false,
  }));
  const vocab = Object.fromEntries(vocabulary.tokens.map((token, id) => [token, id]));
  return {
    added_tokens: added,
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: null,
    decoder: null,
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab,
    },
  };
}

await main();
