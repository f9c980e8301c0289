/**
 * Speed of BM25: queries a second on one thread, ours against Lucene and bm25s, over the same analysed words.
 *
 *     LZERO_LUCENE=CLASSPATH LZERO_PYTHON=peers/bin/python npx tsx bench/bm25.ts [DATA] [--rounds 5] [--json results.json]
 *
 * With DATA (the unpacked real data) documents are its passages of documentation, Debian's package descriptions, WordNet's
 * glosses and Wikipedia's sentences, queries of MS MARCO; without it both are words drawn by Zipf's law with a fixed seed.
 * No query is asked twice: what an engine remembers of words it must have learned from other queries. LZERO_LUCENE is the class path of lucene-core and lucene-analysis-common, LZERO_PYTHON a Python with bm25s (and
 * numba, if it is to be measured); a peer that is not named is left out. Each contender has a process of its own, they
 * take turns, the first round warms up. Lucene must return the very documents that we return; bm25s has exact lengths
 * where Lucene has bytes, so its documents differ.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { Random } from '../src/core/index.ts';
import { analyse } from '../src/search/index.ts';
import { Contender } from './lib/contender.ts';
import { circumstances, describe } from './lib/machine.ts';
import { type Part, printPart, writeResults } from './lib/report.ts';
import { median, spread } from './lib/statistics.ts';

const PEERS = resolve(import.meta.dirname, 'peers');
const FILES = [
  ...['git-doc', 'linux-doc-6.1', 'manpages', 'nodejs-doc', 'python3.11-doc', 'sqlite3-doc'].map(
    (name) => `texts/docs/${name}.jsonl`,
  ),
  'texts/definitions/wordnet-glosses.jsonl',
  'collections/qa/debian-packages/corpus.jsonl',
  'collections/qa/wikiqa/corpus.jsonl',
];
/** Queries of one measurement; the next one asks others. */
const NUM_QUERIES = 380;
const DRAWN_QUERIES = 6840;
const DRAWN_DOCUMENTS = 200_000;
const DEPTHS = [10, 100, 1000];

type Words = { readonly documents: readonly string[]; readonly queries: readonly string[]; readonly from: string };

function realWords(data: string): Words {
  const row = z.object({ title: z.string().optional(), text: z.string() });
  const documents = FILES.flatMap((file) =>
    readFileSync(join(data, file), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => row.parse(JSON.parse(line)))
      .map(({ title = '', text }) => analyse(`${title} ${text}`).join(' ')),
  );
  const lines = readFileSync(join(data, 'tokenizer/wordpiece/msmarco-dev.txt'), 'utf8').trim().split('\n');
  const queries = lines.map((line) => analyse(line.slice(line.indexOf('\t') + 1)).join(' '));
  return { documents, queries, from: 'documentation, glosses and descriptions; MS MARCO queries' };
}

/** Words by Zipf's law: rank r is drawn about 1/r as often as rank 1. */
function drawnWords(): Words {
  const random = new Random(42);
  const word = (): string => `w${Math.floor(100_000 ** random.uniform())}`;
  const words = (count: number): string => Array.from({ length: count }, word).join(' ');
  return {
    documents: Array.from({ length: DRAWN_DOCUMENTS }, () => words(10 + random.below(80))),
    queries: Array.from({ length: DRAWN_QUERIES }, () => words(2 + random.below(5))),
    from: "words drawn by Zipf's law",
  };
}

/** Starts whoever is there. */
async function contenders(scratch: string): Promise<Contender[]> {
  const [documents, queries] = [join(scratch, 'documents.txt'), join(scratch, 'queries.txt')];
  const { LZERO_LUCENE: lucene, LZERO_PYTHON: python } = process.env;
  const started = [
    await Contender.start('lzero', [
      'npx',
      'tsx',
      join(import.meta.dirname, 'lib/bm25-contender.ts'),
      documents,
      queries,
    ]),
  ];
  if (lucene) {
    const folder = join(scratch, 'lucene');
    mkdirSync(folder);
    const program = join(PEERS, 'bm25_lucene.java');
    started.push(
      await Contender.start('Lucene', ['java', '--class-path', lucene, program, folder, documents, queries]),
    );
  }
  if (python)
    started.push(await Contender.start('bm25s', [python, join(PEERS, 'bm25s_search.py'), documents, queries]));
  return started;
}

/** `first` is the first query that was never asked. */
async function measure(
  all: readonly Contender[],
  k: number,
  { rounds, first }: { readonly rounds: number; readonly first: number },
): Promise<Part> {
  const times = new Map<string, number[]>(all.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    const sums = new Map<string, unknown>();
    const from = first + (round + 1) * NUM_QUERIES;
    for (const contender of all) {
      const { ms, sum } = await contender.measure({ k, from, to: from + NUM_QUERIES });
      if (round >= 0) times.get(contender.name)?.push((1000 * ms) / NUM_QUERIES);
      sums.set(contender.name, sum);
    }
    if (sums.has('Lucene') && sums.get('Lucene') !== sums.get('lzero')) throw new Error('Lucene finds other documents');
  }
  const own = median(times.get('lzero') ?? []);
  const rows = [...times].map(([name, us]) => ({
    name: name === 'lzero' ? name : `${name} (${(median(us) / own).toFixed(2)} × ours)`,
    unit: 'µs a query',
    value: spread(us),
  }));
  return { title: `k = ${k}`, rows, claims: [] };
}

async function main(): Promise<void> {
  const options = { rounds: { type: 'string', default: '5' }, json: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const where = await circumstances();
  const { documents, queries, from } = positionals[0] ? realWords(positionals[0]) : drawnWords();
  console.log(`${describe(where)}\n${documents.length} documents, ${queries.length} queries: ${from}`);
  const scratch = mkdtempSync(join(tmpdir(), 'lzero-bm25-'));
  writeFileSync(join(scratch, 'documents.txt'), documents.map((line) => `${line}\n`).join(''));
  writeFileSync(join(scratch, 'queries.txt'), queries.map((line) => `${line}\n`).join(''));
  const all = await contenders(scratch);
  try {
    const parts: Part[] = [];
    const rounds = Number(values.rounds);
    if (DEPTHS.length * (rounds + 1) * NUM_QUERIES > queries.length)
      throw new Error('not enough queries for so many rounds');
    for (const [i, k] of DEPTHS.entries()) {
      parts.push(await measure(all, k, { rounds, first: i * (rounds + 1) * NUM_QUERIES }));
      printPart(parts[parts.length - 1]);
    }
    if (values.json) writeResults(values.json, where, parts);
  } finally {
    for (const contender of all) contender.close();
    rmSync(scratch, { recursive: true });
  }
}

await main();
