/**
 * What the codes of a model's matrices cost before anything is judged: bytes, and the cosine of document vectors with float32.
 *
 *     npx tsx runs/model/codes.ts MODEL CORPUS [--documents 100]
 *
 * MODEL is a model folder in float32, CORPUS a collection or a file of documents, the first of which are encoded. What it costs
 * in quality, `lzero eval` of two quantised folders tells.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dot, type SparseVector } from '../../src/core/index.ts';
import { documentTexts, readDocuments } from '../../src/data/index.ts';
import { CODES, type DocumentToEncode, type LoadOptions, loadModel, quantiseModel } from '../../src/model/index.ts';
import { markdownHead, markdownRow } from '../lib/markdown.ts';

async function vectorsOf(
  folder: string,
  documents: readonly DocumentToEncode[],
  options: LoadOptions = {},
): Promise<SparseVector[]> {
  const model = await loadModel(folder, options);
  try {
    const vectors: SparseVector[] = [];
    for await (const { vector } of model.encode(documents)) vectors.push(vector);
    return vectors;
  } finally {
    await model.close();
  }
}

/** The first documents of a corpus. */
async function firstDocuments(corpus: string, count: number): Promise<DocumentToEncode[]> {
  const first: DocumentToEncode[] = [];
  for await (const document of documentTexts(readDocuments(corpus))) {
    if (first.push(document) === count) break;
  }
  return first;
}

function cosine(a: SparseVector, b: SparseVector): number {
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { documents: { type: 'string', default: '100' } },
});
const [model, corpus] = positionals;
if (!model || !corpus) throw new Error('usage: npx tsx runs/model/codes.ts MODEL CORPUS');
const documents = await firstDocuments(corpus, Number(values.documents));
const fp32 = await vectorsOf(model, documents, { precision: 'fp32' });
const scratch = mkdtempSync(join(tmpdir(), 'lzero-codes-'));
try {
  console.log(markdownHead(['tables', 'feed-forward', 'MB', 'precision', 'mean cosine', 'least', 'terms']));
  for (const { tables, feedForward } of CODES.flatMap((tables) =>
    CODES.map((feedForward) => ({ tables, feedForward })),
  )) {
    const output = join(scratch, `${tables}-${feedForward}`);
    const { sizeBytes } = await quantiseModel({ source: model, output, tables, feedForward });
    for (const precision of ['fp32', 'int8'] as const) {
      const vectors = await vectorsOf(output, documents, { precision });
      const cosines = vectors.map((vector, i) => cosine(vector, fp32[i]));
      const terms = mean(vectors.map((vector) => vector.terms.length)).toFixed(1);
      const figures = [mean(cosines), Math.min(...cosines)].map((value) => value.toFixed(4));
      console.log(markdownRow([tables, feedForward, (sizeBytes / 1e6).toFixed(1), precision, ...figures, terms]));
    }
  }
} finally {
  rmSync(scratch, { recursive: true });
}
