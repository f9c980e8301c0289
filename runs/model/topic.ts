/**
 * A model with a topic head: term vectors fitted to what a teacher says of queries, over an encoder that gives the teacher's
 * vectors of documents, or nearly. It is useful as it is, without any training of the head.
 *
 *     npx tsx runs/model/topic.ts WORK ENCODER --teacher dense:gte-small,pooling=mean,max-length=128 [-o WORK/topic] [--length 256]
 *
 * WORK has documents.jsonl (runs/model/prepare.ts), all of whose queries are read; what the teacher has read before is in
 * WORK/teachers. The encoder is a cut one that was trained to follow the teacher, or the teacher itself.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { importModel, loadModel } from '../../src/model/index.ts';
import { openScorer, parseTeacher, type Scorer } from '../../src/teach/index.ts';
import { evenlySpaced } from '../lib/evenly-spaced.ts';
import { progressLine } from './progress.ts';
import { rows } from './sources.ts';

/** Documents that thresholds are set on. */
const SAMPLE = 1_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    teacher: { type: 'string' },
    output: { type: 'string', short: 'o' },
    length: { type: 'string', default: '256' },
  },
});
const [work, encoder] = positionals;
if (!work || !encoder || !values.teacher)
  throw new Error('usage: npx tsx runs/model/topic.ts WORK ENCODER --teacher NAME');

const documents: { readonly text: string; readonly queries: readonly string[] }[] = [];
for await (const row of rows<(typeof documents)[number]>(join(work, 'documents.jsonl'))) documents.push(row);
const texts = [...new Set(documents.flatMap(({ queries }) => queries))];
const { tokenizer } = await loadModel('bow');
const words = tokenizer.vocabulary.tokens.map((token) => token.replace(/^##/, ''));

const teacher = await openScorer(parseTeacher(values.teacher), { folder: join(work, 'teachers') });
try {
  const report = await importModel({
    source: encoder,
    output: values.output ?? join(work, 'topic'),
    force: true,
    head: 'topic',
    queries: {
      texts,
      vectors: await vectorsOf(teacher, texts, 'queries'),
      ofTerms: await vectorsOf(teacher, words, 'terms'),
      onPass: (pass, left) => console.log(`pass ${pass}: ${left.toFixed(4)} of the first residual`),
    },
    calibration: evenlySpaced(documents, SAMPLE).map(({ text }) => text),
    activation: 'relu',
    encodeLength: Number(values.length),
  });
  console.log(`${texts.length} queries, ${report.numCalibrationDocuments} documents: ${report.settings.name}`);
} finally {
  await teacher.close();
}

async function vectorsOf({ denseVectorsOf, name }: Scorer, asked: readonly string[], what: string) {
  if (!denseVectorsOf) throw new Error(`${name} is not a dense teacher`);
  const vectors = await denseVectorsOf('query', asked, { onProgress: progressLine(what, new Set(asked).size) });
  const width = vectors[0].length;
  const data = new Float32Array(vectors.length * width);
  for (const [i, vector] of vectors.entries()) data.set(vector, i * width);
  return { data, width };
}
