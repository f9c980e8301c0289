/** A training run small enough for tests: the golden tied BERT, texts over its vocabulary, scored lists, a collection. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseConfig } from '../../src/config/index.ts';
import { Random } from '../../src/core/index.ts';
import { type TrainConfig, trainConfigSchema } from '../../src/train/index.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';

const TOPICS = [
  ['water', 'river', 'boat', 'harbour', 'sail'],
  ['bread', 'salt', 'honey', 'apple', 'garden'],
  ['king', 'queen', 'tower', 'bridge', 'wall'],
  ['star', 'moon', 'sun', 'night', 'light'],
];
const FILLERS = ['the', 'a', 'of', 'and', 'in', 'is', 'on', 'old', 'new', 'small', 'large'];

/** Writes the data into a folder, and gives the text of a configuration over it. */
export function writeTinyTraining(folder: string): string {
  const random = new Random(7);
  const pick = (words: readonly string[]) => words[random.below(words.length)];
  const text = (topic: number, length: number) =>
    Array.from({ length }, () => (random.uniform() < 0.5 ? pick(TOPICS[topic]) : pick(FILLERS))).join(' ');
  const lists = Array.from({ length: 40 }, (_, i) => {
    const topic = i % TOPICS.length;
    const docs = [0, 1, 2, 3].map((k) => text((topic + k) % TOPICS.length, 3 + random.below(9)));
    return {
      query: `${pick(TOPICS[topic])} ${pick(TOPICS[topic])}`,
      docs,
      scores: [9, 4, 3, 1].map((s) => s + random.uniform()),
    };
  });
  writeJsonLines(join(folder, 'lists.jsonl'), lists);
  const documents = Array.from({ length: 24 }, (_, i) => ({ _id: `d${i}`, text: text(i % 4, 8) }));
  writeJsonLines(join(folder, 'dev/corpus.jsonl'), documents);
  writeJsonLines(
    join(folder, 'dev/queries.jsonl'),
    TOPICS.map((words, i) => ({ _id: `q${i}`, text: words.slice(0, 2).join(' ') })),
  );
  const judged = documents.map(({ _id }, i) => `q${i % 4}\t${_id}\t1`);
  write(join(folder, 'dev/qrels/dev.tsv'), `query-id\tcorpus-id\tscore\n${judged.join('\n')}\n`);
  return `model: { base: ${goldenFolder('tied')}, activation: l0, maxLength: 24, encodeLength: 32 }
data: { train: ${join(folder, 'lists.jsonl')}, format: scored, docsPerQuery: 2, shuffleBuffer: 10 }
rank: { loss: kl }
idf: { source: corpus }
sparsity: { lambda: 0.01, ramp: 8, threshold: 20 }
optim: { learningRate: 1.0e-3, warmup: 2, steps: 20, batchQueries: 4, seed: 3 }
evaluate: { collection: ${join(folder, 'dev')}, split: dev, every: 8 }
engine: { dropout: 0.1, microBatchTokens: 64 }
output: { logEvery: 3, checkpointEvery: 5 }
`;
}

/** A checked configuration, with settings changed as `--set` does. */
export function tinyConfig(text: string, ...set: string[]): TrainConfig {
  return parseConfig(text, trainConfigSchema, { set });
}

/** Lines of metrics.jsonl without what depends on the machine's speed. */
export function metricsOf(run: string): Record<string, unknown>[] {
  const lines = readFileSync(join(run, 'metrics.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const { docsPerSecond: _d, tokensPerSecond: _t, ...rest } = JSON.parse(line);
    return rest;
  });
}

function writeJsonLines(path: string, lines: readonly unknown[]): void {
  write(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
