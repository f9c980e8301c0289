/**
 * A model with a topic head: term vectors fitted to what a teacher says of queries, over an encoder that gives the teacher's
 * vectors of documents, or nearly. It is useful as it is, without any training of the head.
 *
 *     npx tsx runs/model/topic.ts WORK ENCODER --teacher dense:gte-small,pooling=mean,max-length=128 [-o WORK/topic] [--length 256]
 *     npx tsx runs/model/topic.ts WORK ENCODER --terms WORK/topic -o WORK/healed
 *
 * WORK has documents.jsonl (runs/model/prepare.ts), all of whose queries are read; what the teacher has read before is in
 * WORK/teachers. The encoder is the teacher itself, or one that was trained to follow it: --terms takes the term vectors of a model that
 * was made before, which do not depend on the encoder, and sets thresholds for this one.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { evenlySpaced } from '../../src/core/index.ts';
import { importModel, loadModel, type ReadQueries, rowsOf } from '../../src/model/index.ts';
import { openScorer, parseTeacher, type Scorer } from '../../src/teach/index.ts';
import { progressLine } from './progress.ts';
import { rows } from './sources.ts';

/** Documents that thresholds are set on. */
const SAMPLE = 1_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    teacher: { type: 'string' },
    terms: { type: 'string' },
    output: { type: 'string', short: 'o' },
    length: { type: 'string', default: '256' },
  },
});
const [work, encoder] = positionals;
const { teacher, terms: sameAs } = values;
if (!work || !encoder || (teacher === undefined) === (sameAs === undefined))
  throw new Error('usage: npx tsx runs/model/topic.ts WORK ENCODER (--teacher NAME | --terms MODEL)');

const documents: { readonly text: string; readonly queries: readonly string[] }[] = [];
for await (const row of rows<(typeof documents)[number]>(join(work, 'documents.jsonl'))) documents.push(row);
const report = await importModel({
  source: encoder,
  output: values.output ?? join(work, 'topic'),
  force: true,
  head: 'topic',
  terms: teacher === undefined ? { sameAs: sameAs ?? '' } : await readQueries(teacher),
  calibration: evenlySpaced(documents, SAMPLE).map(({ text }) => text),
  activation: 'relu',
  encodeLength: Number(values.length),
});
console.log(`thresholds set on ${report.numCalibrationDocuments} documents: ${report.settings.name}`);

/** What the teacher says of all queries, and of each term by itself. */
async function readQueries(name: string): Promise<ReadQueries> {
  const texts = [...new Set(documents.flatMap(({ queries }) => queries))];
  const { tokenizer } = await loadModel('bow');
  const words = tokenizer.vocabulary.tokens.map((token) => token.replace(/^##/, ''));
  const scorer = await openScorer(parseTeacher(name), { folder: join(work, 'teachers') });
  try {
    return {
      texts,
      vectors: await vectorsOf(scorer, texts, 'queries'),
      ofTerms: await vectorsOf(scorer, words, 'terms'),
      onPass: (pass, left) => console.log(`pass ${pass}: ${left.toFixed(4)} of the first residual`),
    };
  } finally {
    await scorer.close();
  }
}

async function vectorsOf({ denseVectorsOf, name }: Scorer, asked: readonly string[], what: string) {
  if (!denseVectorsOf) throw new Error(`${name} is not a dense teacher`);
  const vectors = await denseVectorsOf('query', asked, { onProgress: progressLine(what, new Set(asked).size) });
  return rowsOf(vectors);
}
