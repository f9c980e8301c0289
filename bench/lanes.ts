/**
 * One copy of the embedded model on all cores, against copies that share them (src/model/lane-threads.ts): documents a second in
 * int8, and whether both give the same bits.
 *
 *     npx tsx bench/lanes.ts [--input corpus.jsonl] [--docs 100] [--rounds 5] [--json results.json]
 *
 * Documents are those of the embedded collection, or of --input, evenly spaced. Both take turns round by round. Nothing else
 * should run on the machine.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { evenlySpaced } from '../src/core/index.ts';
import { documentTexts, EMBEDDED_COLLECTION, readDocuments } from '../src/data/index.ts';
import { GraphRunner } from '../src/model/graph-runner.ts';
import { Checkpoint, loadModel, resolveModel } from '../src/model/index.ts';
import { integerNetwork } from '../src/model/neural-encoder.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, atMost, printPart, writeResults } from './lib/report.ts';
import { median, spread } from './lib/statistics.ts';

/** Tokens of a document that the embedded model reads. */
const LENGTH = 256;
/** What sharing should gain at least. */
const BAR = 1.2;

const { values } = parseArgs({
  options: {
    input: { type: 'string', default: join(EMBEDDED_COLLECTION, 'corpus.jsonl') },
    docs: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const where = await circumstances();
console.log(describe(where));
const { tokenizer } = await loadModel();
const texts: string[] = [];
for await (const { text } of documentTexts(readDocuments(values.input))) texts.push(text);
const documents = evenlySpaced(texts, Number(values.docs)).map((text) => tokenizer.encodeForModel(text, LENGTH).ids);
const checkpoint = await Checkpoint.open((await resolveModel('default')).folder);
const open = (isOneByOne: boolean): Promise<GraphRunner> =>
  GraphRunner.open(checkpoint, { ...integerNetwork(checkpoint), isOneByOne }, {});
const [alone, shared] = [await open(false), await open(true)];

/** Milliseconds of each document by itself: what a server waits that adds one. */
async function milliseconds(runner: GraphRunner): Promise<number[]> {
  const times: number[] = [];
  for (const ids of documents) {
    const began = performance.now();
    await runner.run([ids]);
    times.push(performance.now() - began);
  }
  return times;
}

/** Documents a second, and what came out. */
async function encode(runner: GraphRunner): Promise<{ readonly rate: number; readonly weights: Float32Array[] }> {
  const began = performance.now();
  const outputs = await Promise.all(documents.map((ids) => runner.run([ids])));
  const rate = (1000 * documents.length) / (performance.now() - began);
  return { rate, weights: outputs.map(({ z }) => z.data).filter((data) => data instanceof Float32Array) };
}

await encode(alone); // loads what is loaded at first
await encode(shared);
const rates: { readonly alone: number; readonly shared: number }[] = [];
const waits: { readonly alone: number; readonly shared: number }[] = [];
let numDifferent = 0;
for (let round = 0; round < Number(values.rounds); round++) {
  const [one, several] = [await encode(alone), await encode(shared)];
  rates.push({ alone: one.rate, shared: several.rate });
  waits.push({ alone: median(await milliseconds(alone)), shared: median(await milliseconds(shared)) });
  numDifferent += one.weights.filter((row, d) => row.some((value, j) => value !== several.weights[d][j])).length;
}
await Promise.all([alone.close(), shared.close()]);
await checkpoint.close();
const part = {
  title: `${documents.length} documents, ${Math.round(documents.reduce((sum, { length }) => sum + length, 0) / documents.length)} tokens each`,
  rows: [
    { name: 'one copy on all cores', unit: 'documents/s', value: spread(rates.map((rate) => rate.alone)) },
    { name: 'copies that share them', unit: 'documents/s', value: spread(rates.map((rate) => rate.shared)) },
    { name: 'one document at a time, one copy', unit: 'ms', value: spread(waits.map((wait) => wait.alone)) },
    {
      name: 'one document at a time, a share of the cores',
      unit: 'ms',
      value: spread(waits.map((wait) => wait.shared)),
    },
  ],
  claims: [
    atLeast('sharing, against one copy', median(rates.map((rate) => rate.shared / rate.alone)), BAR),
    atMost('documents that differ', numDifferent, { limit: 0, unit: '' }),
  ],
};
printPart(part);
if (values.json) writeResults(values.json, where, [part]);
