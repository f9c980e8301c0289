/** What benchmarks of training measure on: batches of SciFact documents that fill 128 tokens, and its mix of lengths. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Random } from '../../src/core/index.ts';
import { documentTexts, readDocuments } from '../../src/data/index.ts';
import { loadModel } from '../../src/model/index.ts';

/** Q, queries of a step. */
export const STEP_QUERIES = 8;
/** G, documents of each. */
export const DOCS_PER_QUERY = 2;
/** Documents of a step. */
export const STEP_DOCUMENTS = STEP_QUERIES * DOCS_PER_QUERY;
/** Tokens of a document in batches of one length. */
export const STEP_TOKENS = 128;
/** Tokens of a document at most in SciFact's mix. */
export const MIX_TOKENS = 256;
/** The product that the engine's rate is measured with: [rows, inner]·[inner, columns] */
export const PRODUCT = { rows: STEP_DOCUMENTS * STEP_TOKENS, inner: 384, columns: 1536 };

/** A step's worth of texts, and the same as numbers, which PyTorch is given. */
export const trainingBatchesSchema = z.array(
  z.object({
    documents: z.array(z.string()),
    /** Token ids of the documents. */
    ids: z.array(z.array(z.int())),
    queries: z.array(z.object({ text: z.string(), terms: z.array(z.int()), weights: z.array(z.number()) })),
    /** Teacher scores, [Q, G] */
    teacher: z.array(z.array(z.number())),
  }),
);

/** One of them. */
export type TrainingBatchFile = z.infer<typeof trainingBatchesSchema>;

/** SciFact in the data folder. */
export type ScifactFiles = { readonly corpus: string; readonly queries: string };

/** Where SciFact is. */
export function scifactIn(data: string): ScifactFiles {
  const folder = join(data, 'collections/beir/scifact');
  return { corpus: join(folder, 'corpus.jsonl'), queries: join(folder, 'queries.jsonl') };
}

type BatchOptions = ScifactFiles & {
  /** Whose tokenizer counts. */
  readonly model: string;
  readonly numBatches: number;
  /** Only documents that fill so many tokens; undefined for all. */
  readonly numTokens?: number | undefined;
};

/** The sizes that decide what an encoder multiplies. */
type EncoderSizes = {
  readonly numLayers: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
};

/**
 * Floating-point operations of an encoder's products in a step of 16 × 128 tokens, forward once or twice (recomputed) and
 * backward, which is twice as much.
 */
export function productFlops({ numLayers, hiddenSize, intermediateSize }: EncoderSizes, numForward: number): number {
  const numTokens = STEP_DOCUMENTS * STEP_TOKENS;
  const dense = 4 * hiddenSize * hiddenSize + 2 * hiddenSize * intermediateSize;
  const attention = 2 * STEP_TOKENS * hiddenSize;
  return 2 * numTokens * numLayers * (dense + attention) * (numForward + 2);
}

/** Writes batches for us and for PyTorch. */
export async function writeTrainingBatches(path: string, options: BatchOptions): Promise<string> {
  const { model, corpus, queries, numBatches, numTokens } = options;
  const { tokenizer } = await loadModel(model);
  const encode = (text: string) => tokenizer.encodeForModel(text, numTokens ?? MIX_TOKENS).ids;
  const documents: string[] = [];
  for await (const { text } of documentTexts(readDocuments(corpus))) {
    if (numTokens === undefined || encode(text).length === numTokens) documents.push(text);
    if (documents.length === numBatches * STEP_DOCUMENTS) break;
  }
  const lines = readFileSync(queries, 'utf8').trimEnd().split('\n');
  const random = new Random(3);
  const batches: TrainingBatchFile = Array.from({ length: numBatches }, (_, b) => {
    const own = documents.slice(b * STEP_DOCUMENTS, (b + 1) * STEP_DOCUMENTS);
    return {
      documents: own,
      ids: own.map((text) => Array.from(encode(text))),
      queries: Array.from({ length: STEP_QUERIES }, (_, q) => {
        const { text } = querySchema.parse(JSON.parse(lines[b * STEP_QUERIES + q]));
        const terms = [...new Set(tokenizer.encode(text))].sort((a, b) => a - b);
        return { text, terms, weights: terms.map(() => 1) };
      }),
      teacher: Array.from({ length: STEP_QUERIES }, () => [10 * random.uniform(), 10 * random.uniform()]),
    };
  });
  writeFileSync(path, JSON.stringify(batches));
  return path;
}

const querySchema = z.object({ text: z.string() });

/** The same for sentence-transformers: a query, its documents and their scores a line. */
export function writeExamples(path: string, batches: TrainingBatchFile): string {
  const lines = batches.flatMap(({ documents, queries, teacher }) =>
    queries.map(({ text }, q) => {
      const own = documents.slice(q * DOCS_PER_QUERY, (q + 1) * DOCS_PER_QUERY);
      return JSON.stringify({ query: text, documents: own, scores: teacher[q] });
    }),
  );
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}
