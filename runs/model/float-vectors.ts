/**
 * What the embedded model would give were it not in codes: its head and lexical part over the vectors of gte-small in float32, which the
 * row of gte-small has had read already. Only the term vectors are those of the codes.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type SparseVector, sparseVector } from '../../src/core/index.ts';
import { formatVector, openCollection } from '../../src/data/index.ts';
import { activate } from '../../src/model/activation.ts';
import { firm } from '../../src/model/firm-threshold.ts';
import { Checkpoint, lexicalOf, loadModel, readModelFolder, TOPIC } from '../../src/model/index.ts';
import { openScorer, parseTeacher } from '../../src/teach/index.ts';
import { documentText } from '../../src/text/index.ts';
import { type EvaluationSet, folderOf } from './evaluation.ts';
import { withLexical } from './network-vectors.ts';
import { progressLine } from './progress.ts';

const MODEL = resolve(import.meta.dirname, '../../models/lzero-en');

type Places = { readonly data: string; readonly work: string; readonly set: EvaluationSet };

/** Writes vectors of a set as a file; `encoder` is how `lzero eval` was told to name gte-small, `memory` where it keeps what it has read. */
export async function writeFloatVectors(encoder: string, memory: string, { data, work, set }: Places): Promise<string> {
  const collection = await openCollection(await folderOf(set, data, work), { split: set.split });
  const ids: string[] = [];
  const texts: string[] = [];
  for await (const document of collection.documents()) {
    ids.push(document.id);
    texts.push(documentText(document));
  }
  const head = await readHead();
  const model = await loadModel(MODEL);
  const { settings } = await readModelFolder(MODEL);
  if (settings.kind !== 'bert') throw new Error(`bug: ${MODEL} has no network`);
  const { tokenizer } = model;
  const states = await statesOf(encoder, memory, texts);
  const lines = ids.map((id, d) => {
    const inText = new Set(tokenizer.encodeForModel(texts[d], settings.encodeLength).ids);
    const network = topicVector(states[d], inText, head);
    const all = tokenizer.encode(texts[d]);
    const { terms, weights } = withLexical(network, all, { lexical: lexicalOf(settings), model });
    const names = Array.from(terms, (term) => tokenizer.vocabulary.tokens[term]);
    return `${formatVector(id, names, weights)}\n`;
  });
  await model.close();
  const file = join(work, 'vectors', `float-${set.name}.jsonl`);
  mkdirSync(join(work, 'vectors'), { recursive: true });
  writeFileSync(`${file}.partial`, lines.join(''));
  renameSync(`${file}.partial`, file);
  return file;
}

async function statesOf(encoder: string, folder: string, texts: readonly string[]): Promise<Float32Array[]> {
  const scorer = await openScorer(parseTeacher(encoder), { folder });
  try {
    if (!scorer.denseVectorsOf) throw new Error(`${encoder} is not dense`);
    return await scorer.denseVectorsOf('document', texts, { onProgress: progressLine('documents', texts.length) });
  } finally {
    await scorer.close();
  }
}

type Head = {
  readonly terms: Float32Array;
  readonly mean: Float32Array;
  readonly bias: Float32Array;
  readonly ownBias: Float32Array;
};

async function readHead(): Promise<Head> {
  const checkpoint = await Checkpoint.open(MODEL);
  try {
    const [terms, mean, bias, ownBias] = await Promise.all(
      [TOPIC.terms, TOPIC.mean, TOPIC.bias, TOPIC.ownBias].map((name) => checkpoint.read(name)),
    );
    return { terms, mean, bias, ownBias };
  } finally {
    await checkpoint.close();
  }
}

/** The terms of a document (src/model/topic-terms.ts), by the formula. */
function topicVector(
  state: Float32Array,
  inText: ReadonlySet<number>,
  { terms, mean, bias, ownBias }: Head,
): SparseVector {
  const width = mean.length;
  const own = state.map((value, k) => value - mean[k]);
  const kept: number[] = [];
  const weights: number[] = [];
  for (let j = 0, at = 0; j < bias.length; j++) {
    let x = 0;
    for (let k = 0; k < width; k++, at++) x += own[k] * terms[at];
    const z = x > 0 ? firm(x, inText.has(j) ? ownBias[j] : bias[j]) : 0;
    if (z <= 0) continue;
    kept.push(j);
    weights.push(activate(z, 'relu'));
  }
  return sparseVector(kept, weights);
}
