/** The fifty texts that the shipped models are held to, and what stands in the files beside this one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentTexts, EMBEDDED_COLLECTION, openCollection } from '../../../src/data/index.ts';

/** Names of the shipped models with a network. */
export const SHIPPED: readonly string[] = ['default'];

/** What a model gave when it was made. */
export type ShippedGolden = {
  /** How and when it was made. */
  readonly command: string;
  readonly date: string;
  /** Of the model, as it runs by default. */
  readonly identity: string;
  /** In float32, by token. */
  readonly vectors: readonly Readonly<Record<string, number>>[];
  /** Of the embedded collection, as it runs by default. */
  readonly ndcg10: number;
};

/** The file of a model. */
export const goldenFile = (name: string): string => join(import.meta.dirname, `${name}.json`);

/** Reads it. */
export const golden = (name: string): ShippedGolden => JSON.parse(readFileSync(goldenFile(name), 'utf8'));

const PASSAGES = 47;

/** Passages of the embedded collection, and what is hard: one word, signs, and more than any model reads. */
export async function fixedTexts(): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of documentTexts((await openCollection(EMBEDDED_COLLECTION)).documents())) texts.push(text);
  const passages = texts.filter((_, i) => i % 5 === 0).slice(0, PASSAGES);
  return ['bicycle', 'Ünïcode, 東京 and #42: a=b² — done?', ...passages, texts.slice(0, 20).join(' ')];
}
