/**
 * What the embedded model would give were it not in codes: its head and lexical part over the vectors of gte-small in float32, which the
 * row of gte-small has had read already. Only the term vectors are those of the codes.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type SparseVector, sparseVector } from '../../src/core/index.ts';
import { formatVector, openCollection } from '../../src/data/index.ts';
import { writeFileAtomically } from '../../src/files/index.ts';
import { lexicalOf, loadModel, prune } from '../../src/model/index.ts';
import type { TopicHead } from '../../src/model/topic-head.ts';
import { type ReadDocuments, termsRead, topicWeight } from '../../src/model/topic-weights.ts';
import { openScorer, parseTeacher } from '../../src/teach/index.ts';
import { documentText } from '../../src/text/index.ts';
import { embeddedHead, MODEL } from './embedded-head.ts';
import { type EvaluationSet, folderOf } from './evaluation.ts';
import { withLexical } from './network-vectors.ts';
import { progressLine } from './progress.ts';

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
  const head = await embeddedHead();
  const model = await loadModel(MODEL);
  const { settings } = model;
  if (settings.kind !== 'bert') throw new Error(`bug: ${MODEL} has no network`);
  const { tokenizer } = model;
  const states = await statesOf(encoder, memory, texts);
  const lines = ids.map((id, d) => {
    const inText = termsRead(tokenizer, texts[d], settings.encodeLength);
    const network = topicVector(states[d], inText, { ...head, activation: settings.activation });
    const all = tokenizer.encode(texts[d]);
    const { terms, weights } = prune(
      withLexical(network, all, { lexical: lexicalOf(settings), model }),
      settings.prune,
    );
    const names = Array.from(terms, (term) => tokenizer.vocabulary.tokens[term]);
    return `${formatVector(id, names, weights)}\n`;
  });
  await model.close();
  const file = join(work, 'vectors', `float-${set.name}.jsonl`);
  mkdirSync(join(work, 'vectors'), { recursive: true });
  await writeFileAtomically(file, lines.join(''));
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

/** The terms that the head keeps of a document. */
function topicVector(
  state: Float32Array,
  inText: ReadonlySet<number>,
  { terms: { data, width }, mean, bias, ownBias, activation }: TopicHead & Pick<ReadDocuments, 'activation'>,
): SparseVector {
  const own = state.map((value, k) => value - mean[k]);
  const kept: number[] = [];
  const weights: number[] = [];
  for (let j = 0, at = 0; j < bias.length; j++) {
    let x = 0;
    for (let k = 0; k < width; k++, at++) x += own[k] * data[at];
    const weight = topicWeight(x, inText.has(j) ? ownBias[j] : bias[j], activation);
    if (weight === 0) continue;
    kept.push(j);
    weights.push(weight);
  }
  return sparseVector(kept, weights);
}
