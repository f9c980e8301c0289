/**
 * What a live teacher adds to a step of training: the scores of a batch, against encoding the same texts and nothing else.
 *
 *     LZERO_WEIGHTS=… LZERO_SHARED_DATA=… npx tsx bench/live-teacher.ts [--rounds 3] [--only minilm-l6] [--json results.json]
 *
 * LZERO_WEIGHTS holds Hugging Face checkpoints (minilm-l6, gte-small), LZERO_SHARED_DATA the unpacked real data. Batches are 16
 * queries of SciFact with 2 documents each, 128 tokens, scored over the whole batch; nothing is remembered. Both take turns
 * round by round. Bar: ≤ 1.05 of the teacher's own encoding time. Nothing else should run on the machine.
 */
import { parseArgs } from 'node:util';
import { silentLogger } from '../src/core/index.ts';
import { documentTexts, readDocuments, readQueries } from '../src/data/index.ts';
import { loadModel } from '../src/model/index.ts';
import { openScorer, parseTeacher } from '../src/teach/index.ts';
import { trainConfigSchema } from '../src/train/index.ts';
import { LiveTeachers } from '../src/train/run/live-teachers.ts';
import { benchOptions } from './lib/bench-options.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atMost, type Part, printPart, writeResults } from './lib/report.ts';
import { median, spread } from './lib/statistics.ts';
import { scifactIn } from './lib/training-setting.ts';

const TEACHERS = ['minilm-l6', 'gte-small'] as const;
const [QUERIES, DOCS_PER_QUERY, BATCHES] = [16, 2, 4];
const BAR = 1.05;

type Batch = { readonly queries: readonly string[]; readonly documents: readonly string[] };

async function batchesOf(data: string, count: number): Promise<Batch[]> {
  const { corpus, queries } = scifactIn(data);
  const texts: string[] = [];
  for await (const { text } of documentTexts(readDocuments(corpus))) texts.push(text);
  const asked: string[] = [];
  for await (const { text } of readQueries(queries)) asked.push(text);
  const size = QUERIES * DOCS_PER_QUERY;
  return Array.from({ length: count }, (_, i) => ({
    queries: asked.slice(i * QUERIES, (i + 1) * QUERIES),
    documents: texts.slice(i * size, (i + 1) * size),
  }));
}

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function teacherPart(name: string, folder: string, options: { data: string; rounds: number }): Promise<Part> {
  const teacher = `dense:${folder},max-length=128`;
  const config = trainConfigSchema.parse({
    model: { base: 'default' },
    data: { train: 'none', format: 'triples', docsPerQuery: DOCS_PER_QUERY },
    rank: { loss: 'kl', inBatchNegatives: true },
    teachers: { models: [teacher] },
    sparsity: { lambda: 0 },
  });
  const { vocabulary } = (await loadModel('bow')).tokenizer;
  const live = await LiveTeachers.open(config, { vocabulary, logger: silentLogger });
  const alone = await openScorer(parseTeacher(teacher));
  if (!live) throw new Error('the configuration has no teachers');
  const { signal } = new AbortController();
  const [first, ...batches] = await batchesOf(options.data, 1 + BATCHES * options.rounds);
  const score = (batch: Batch) => live.teach(batch, signal);
  const encode = async ({ queries, documents }: Batch) => {
    await alone.learnQueries(queries);
    await alone.overAll(documents);
  };
  await score(first); // loads the engines
  await encode(first);
  const rounds = Array.from({ length: options.rounds }, (_, round) =>
    batches.slice(round * BATCHES, (round + 1) * BATCHES),
  );
  const taken: { readonly scored: number; readonly encoded: number }[] = [];
  for (const round of rounds) {
    let [scored, encoded] = [0, 0];
    for (const batch of round) {
      scored += await millisecondsOf(() => score(batch));
      encoded += await millisecondsOf(() => encode(batch));
    }
    taken.push({ scored: scored / BATCHES, encoded: encoded / BATCHES });
  }
  await live.close();
  await alone.close();
  const ratio = median(taken.map(({ scored, encoded }) => scored / encoded));
  return {
    title: `${name}, ${QUERIES} queries × ${QUERIES * DOCS_PER_QUERY} documents`,
    rows: [
      { name: 'scores of a batch by a live teacher', unit: 'ms', value: spread(taken.map(({ scored }) => scored)) },
      { name: 'encoding its texts', unit: 'ms', value: spread(taken.map(({ encoded }) => encoded)) },
    ],
    claims: [atMost('a live teacher, against its own encoding', ratio, { limit: BAR, unit: '×' })],
  };
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, only: { type: 'string' }, json: { type: 'string' } },
});
const { weights, data, rounds, wanted } = benchOptions(values, TEACHERS);
const where = await circumstances();
console.log(describe(where));
const parts: Part[] = [];
for (const name of wanted) {
  const part = await teacherPart(name, `${weights}/${name}`, { data, rounds });
  printPart(part);
  parts.push(part);
}
if (values.json) writeResults(values.json, where, parts);
