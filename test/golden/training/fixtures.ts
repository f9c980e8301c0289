/** What the tests of src/train share: three tiny networks, a batch, and what PyTorch makes of them (scripts/golden-training.py). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { matrixFromRows } from '../../../src/losses/index.ts';
import { openSafetensors } from '../../../src/model/index.ts';
import type { Tokenizer } from '../../../src/text/index.ts';
import { BERT_SPECIAL_TOKENS, BERT_UNCASED, Vocabulary, wordPieceTokenizer } from '../../../src/text/index.ts';
import type { TrainConfig } from '../../../src/train/config.ts';
import { trainConfigSchema } from '../../../src/train/config.ts';

const HERE = import.meta.dirname;

/** The networks: BERT's own head, and ours over the word embeddings, without and with the document's mean. */
export const NETWORKS = ['mlm', 'tied', 'pooled'] as const;
/** Name of a network, and of its folder. */
export type NetworkName = (typeof NETWORKS)[number];

const VARIANTS = {
  relu: ['relu', 'same'],
  l0: ['l0', 'same'],
  'l0-2': ['l0-2', 'same'],
  'l0-3': ['l0-3', 'same'],
  'de-l0': ['relu', 'l0'],
  'inv-de-l0': ['l0', 'relu'],
} as const;

const caseSchema = z.object({
  network: z.enum(NETWORKS),
  variant: z.enum(['relu', 'l0', 'l0-2', 'l0-3', 'de-l0', 'inv-de-l0']),
  mask: z.boolean(),
  loss: z.enum(['kl', 'margin-mse', 'info-nce']),
  total: z.number(),
  rank: z.number(),
  flops: z.number(),
  lengths: z.array(z.number()),
  /** FLOPS and a free table where not given. */
  regulariser: z.literal('df-flops').optional(),
  table: z.literal('projected').optional(),
});
/** One objective for one network. */
export type GoldenCase = z.infer<typeof caseSchema>;

/** The batch, and the losses of every case; gradients lie beside it. */
export const golden = z
  .object({
    documents: z.array(z.array(z.number())),
    queries: z.array(z.array(z.number())),
    teacher: z.array(z.array(z.number())),
    idf: z.array(z.number()),
    projection: z.record(z.string(), z.array(z.number())),
    dfAlpha: z.number(),
    dfBeta: z.number(),
    lambda: z.number(),
    threshold: z.number(),
    specialTerms: z.array(z.number()),
    cases: z.array(caseSchema),
  })
  .parse(JSON.parse(readFileSync(join(HERE, 'cases.json'), 'utf8')));

/** Tokens of the vocabulary that are not special: w5 … w63. */
function words(): string[] {
  return golden.idf.slice(BERT_SPECIAL_TOKENS.length).map((_, i) => `w${i + BERT_SPECIAL_TOKENS.length}`);
}

/** A tokenizer that makes term id j of the word `wj`. */
export function goldenTokenizer(): Tokenizer {
  const vocabulary = new Vocabulary([...BERT_SPECIAL_TOKENS, ...words()], BERT_SPECIAL_TOKENS, 'golden');
  return wordPieceTokenizer(vocabulary, { settings: BERT_UNCASED, label: 'golden' });
}

/** The batch as texts. */
export const goldenBatch = {
  queries: golden.queries.map(textOf),
  documents: golden.documents.map((ids) => textOf(ids.slice(1, -1))),
  teacher: matrixFromRows(golden.teacher),
};

function textOf(ids: readonly number[]): string {
  return ids.map((id) => `w${id}`).join(' ');
}

/** Folder of a network. */
export function goldenNetwork(name: NetworkName): string {
  return join(HERE, name);
}

/** Settings of a case; `engine` and `optim` as in a config file. */
export function goldenConfig(
  { network, variant, mask, loss, regulariser, table }: Omit<GoldenCase, 'total' | 'rank' | 'flops' | 'lengths'>,
  { engine = {}, optim = {} }: { readonly engine?: object; readonly optim?: object } = {},
): TrainConfig {
  const [activation, flopsOn] = VARIANTS[variant];
  return trainConfigSchema.parse({
    model: { base: goldenNetwork(network), activation, maxLength: 24 },
    data: { train: 'none', format: 'scored' },
    rank: { loss, ...(loss === 'info-nce' ? { inBatchNegatives: true } : {}) },
    sparsity: {
      lambda: golden.lambda,
      rampShape: 'none',
      threshold: mask ? golden.threshold : null,
      flopsOn,
      ...(regulariser && { regulariser, dfAlpha: golden.dfAlpha, dfBeta: golden.dfBeta }),
    },
    idf: { learnable: table ?? true },
    optim: { learningRate: 1e-3, warmup: 0, decay: 'none', batchQueries: golden.queries.length, ...optim },
    engine: { threads: 1, ...engine },
  });
}

/** PyTorch's gradients by case: `gradients`, or parameters after steps of AdamW: `after-20-steps`. */
export async function goldenTensors(file: 'gradients' | 'after-20-steps'): Promise<Map<string, Float32Array>> {
  const tensors = await openSafetensors(join(HERE, `${file}.safetensors`));
  try {
    const values = new Map<string, Float32Array>();
    for (const name of tensors.tensors.keys()) values.set(name, await tensors.readFloat32(name));
    return values;
  } finally {
    await tensors.close();
  }
}
