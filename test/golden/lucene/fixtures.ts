/** What the tests of src/search/bm25 and scripts/golden-lucene.ts share: Lucene itself, where it is at hand, and real texts. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';

/** Collections whose every word is compared. */
export const COLLECTIONS = ['beir/scifact', 'beir/nfcorpus', 'classic/cranfield'] as const;

/** Class path of Lucene's jars, if this machine has them: then tests ask it live. */
export const lucenePath = process.env.LZERO_LUCENE;

const ORACLE = resolve(import.meta.dirname, '../../../scripts/golden-lucene.java');
const line = z.object({ title: z.string().optional(), text: z.string() });

/** A Lucene that answers questions, each in a process of its own. */
export class Lucene {
  readonly version: string;
  readonly javaVersion: string;
  readonly #classPath: string;

  constructor(classPath: string) {
    this.#classPath = classPath;
    [this.version, this.javaVersion] = this.ask(['version'], [])[0].split('\t');
  }

  /** One answer a text. */
  ask(args: readonly string[], texts: readonly string[]): string[] {
    return this.askRaw(
      args,
      texts.map((text) => JSON.stringify(text)),
    );
  }

  /** The words of every text, a space between two. */
  tokens(texts: readonly string[], options: { readonly stopWords: boolean; readonly stem: boolean }): string[] {
    return this.ask(['tokens', `${options.stopWords}`, `${options.stem}`], texts);
  }

  /** The lines that it writes for these lines. */
  askRaw(args: readonly string[], lines: readonly string[]): string[] {
    const output = execFileSync('java', ['--class-path', this.#classPath, ORACLE, ...args], {
      input: lines.map((each) => `${each}\n`).join(''),
      maxBuffer: 2 ** 30,
    });
    return output.toString('utf8').replace(/\n$/, '').split('\n');
  }
}

/** All documents and queries of a collection of the real data, as indexed: title and text as one. */
export function collectionTexts(data: string, name: string): string[] {
  return ['corpus.jsonl', 'queries.jsonl'].flatMap((file) =>
    readFileSync(join(data, 'collections', name, file), 'utf8')
      .trimEnd()
      .split('\n')
      .map((json) => line.parse(JSON.parse(json)))
      .map(({ title, text }) => (title ? `${title} ${text}` : text)),
  );
}

/** The checksum of lines. */
export function digest(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
