/** An index of many documents and `lzero serve` over it, in a process of its own, for benchmarks. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Random } from '../../src/core/index.ts';
import { createIndex } from '../../src/engines/index.ts';
import { loadModel } from '../../src/model/index.ts';
import { HttpClient, type Reply } from './http-client.ts';

const COLLECTION = resolve(import.meta.dirname, '../../collections/everyday');
const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const WORDS_PER_DOCUMENT = 100;

const readTexts = (name: string): string[] =>
  readFileSync(join(COLLECTION, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).text);

/** Queries of the embedded collection. */
export const QUERIES: readonly string[] = readTexts('queries.jsonl');

/** Documents of 100 words drawn by rank, p ∝ 1 / rank, from those of the embedded collection, with a fixed seed. */
function* documents(numDocs: number): Generator<{ readonly id: string; readonly text: string }> {
  const random = new Random(11);
  const words = [...new Set(readTexts('corpus.jsonl').flatMap((text) => text.toLowerCase().match(/[a-z]+/g) ?? []))];
  for (let i = 0; i < numDocs; i++) {
    const drawn = Array.from(
      { length: WORDS_PER_DOCUMENT },
      () => words[Math.floor(words.length ** random.uniform()) - 1] ?? words[0],
    );
    yield { id: `d${i}`, text: drawn.join(' ') };
  }
}

/** Makes an index of so many documents by the bag of words, merged. */
export async function buildServedIndex(folder: string, numDocs: number): Promise<void> {
  const model = await loadModel('bow');
  const index = await createIndex(folder, { model, writer: { log: false } });
  await index.add(documents(numDocs));
  await index.commit();
  await index.merge();
  await index.close();
  await model.close();
}

/** What a server has taken so far. */
export type Usage = { readonly cpuMs: number; readonly memoryMb: number };

/** A server that runs elsewhere. Stop it. */
export class ServerProcess {
  readonly client: HttpClient;
  readonly #child: ChildProcess;

  /** Starts a program that prints one line of JSON with its `url`, and has /metrics. */
  static async start(args: readonly string[]): Promise<ServerProcess> {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    return new ServerProcess(child, JSON.parse(line).url);
  }

  /** `lzero serve` over one index. */
  static async serve(folder: string, workers: number): Promise<ServerProcess> {
    const options = ['--port', '0', '--workers', String(workers), '--quiet', '--json'];
    return await ServerProcess.start([MAIN, 'serve', folder, ...options]);
  }

  /** The address, with a slash at its end. */
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    this.client = new HttpClient(url);
  }

  /** Searches with the n-th query. */
  async search(n: number): Promise<Reply> {
    return await this.client.get(`/v1/search?q=${encodeURIComponent(QUERIES[n % QUERIES.length])}`);
  }

  async usage(): Promise<Usage> {
    const text = (await this.client.get('/metrics')).body.toString();
    const number = (name: string): number => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
    return {
      cpuMs: 1000 * number('process_cpu_seconds_total'),
      memoryMb: number('process_resident_memory_bytes') / 2 ** 20,
    };
  }

  async stop(): Promise<void> {
    this.client.close();
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await closed;
  }
}
