/** The topic head of the embedded model outside of its network, by the formula (src/model/topic-terms.ts): for vectors that are there already. */
import { resolve } from 'node:path';
import { activate } from '../../src/model/activation.ts';
import { firm } from '../../src/model/firm-threshold.ts';
import { Checkpoint } from '../../src/model/index.ts';
import { readTopicHead, type TopicHead } from '../../src/model/topic-head.ts';

/** The folder of the embedded model. */
export const MODEL = resolve(import.meta.dirname, '../../models/lzero-en');

/** Its head; term vectors are those of its codes. */
export async function embeddedHead(): Promise<TopicHead> {
  const checkpoint = await Checkpoint.open(MODEL);
  try {
    return await readTopicHead(checkpoint);
  } finally {
    await checkpoint.close();
  }
}

/** What a term with the product (t − t̄)·c_j weighs in a document before the lexical part; 0 where it is not kept. `bias` is o_j for terms of the text, else b_j. */
export function weightOf(product: number, bias: number): number {
  return activate(Math.max(0, firm(Math.max(0, product), bias)), 'relu');
}
