/** What benchmarks of encoding measure on: SciFact's first documents, MiniLM with a tied head, batches of token ids. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentTexts, readDocuments } from '../../src/data/index.ts';
import { importModel, loadModel } from '../../src/model/index.ts';

/** Documents of a batch. */
export const BATCH_DOCUMENTS = 16;
/** Tokens of a document in a batch. */
export const BATCH_TOKENS = 128;
/** Batches that are measured together. */
export const NUM_BATCHES = 4;
/** Documents of the corpus. */
export const COLLECTION_DOCUMENTS = 1000;
const WARM_UP_DOCUMENTS = 64;

/** The first documents of SciFact, and a few of them, as JSON lines. */
export type CorpusFiles = { readonly corpus: string; readonly warmUpCorpus: string };

/** Writes both files. */
export function writeCorpus(scratch: string, data: string): CorpusFiles {
  const [corpus, warmUpCorpus] = [join(scratch, 'corpus.jsonl'), join(scratch, 'warm-up.jsonl')];
  const lines = readFileSync(join(data, 'collections/beir/scifact/corpus.jsonl'), 'utf8').split('\n');
  writeFileSync(corpus, `${lines.slice(0, COLLECTION_DOCUMENTS).join('\n')}\n`);
  writeFileSync(warmUpCorpus, `${lines.slice(0, WARM_UP_DOCUMENTS).join('\n')}\n`);
  return { corpus, warmUpCorpus };
}

/** MiniLM with a tied head, calibrated on the corpus. */
export async function importTied(
  output: string,
  { weights, corpus, encodeLength }: { weights: string; corpus: string; encodeLength?: number },
): Promise<void> {
  async function* texts(): AsyncGenerator<string> {
    for await (const { text } of documentTexts(readDocuments(corpus))) yield text;
  }
  await importModel({ source: join(weights, 'minilm-l6'), output, head: 'tied', calibration: texts(), encodeLength });
}

/** A model calibrated at the length that is measured, so that it gives 200 terms, and the batches for it. */
export async function prepareBatches(
  scratch: string,
  { weights, corpus }: { weights: string; corpus: string },
): Promise<{ readonly model: string; readonly ids: string }> {
  const model = join(scratch, `minilm-tied-${BATCH_TOKENS}`);
  await importTied(model, { weights, corpus, encodeLength: BATCH_TOKENS });
  return { model, ids: await writeBatches(join(scratch, 'batches.json'), model, corpus) };
}

/** Token ids of documents that fill 128 tokens, as [[ids × 16] × 4] in a JSON file. */
async function writeBatches(path: string, model: string, corpus: string): Promise<string> {
  const { tokenizer } = await loadModel(model);
  const full: number[][] = [];
  for await (const { text } of documentTexts(readDocuments(corpus))) {
    const { ids } = tokenizer.encodeForModel(text, BATCH_TOKENS);
    if (ids.length === BATCH_TOKENS) full.push(Array.from(ids));
    if (full.length === NUM_BATCHES * BATCH_DOCUMENTS) break;
  }
  const batches = Array.from({ length: NUM_BATCHES }, (_, i) =>
    full.slice(i * BATCH_DOCUMENTS, (i + 1) * BATCH_DOCUMENTS),
  );
  writeFileSync(path, JSON.stringify(batches));
  return path;
}
