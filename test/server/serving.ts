/** Real indexes of the embedded collection behind a real socket, for tests. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { createIndex, type EngineDocument, openIndex } from '../../src/engines/index.ts';
import { loadModel } from '../../src/model/index.ts';
import { type RunningServer, ServedIndex, type ServeOptions, serve } from '../../src/server/index.ts';

const CORPUS = resolve(import.meta.dirname, '../../collections/everyday/corpus.jsonl');

/** The documents of the embedded collection, each with its number as a field. */
export function everydayDocuments(): EngineDocument[] {
  const lines = readFileSync(CORPUS, 'utf8').trim().split('\n');
  return lines.map((line, number) => {
    const { _id, title, text } = JSON.parse(line);
    return { id: _id, title, text, fields: { number } };
  });
}

/** Makes an index of them, by the bag of words or as BM25. */
export async function makeEveryday(folder: string, kind: 'sparse' | 'bm25' = 'sparse'): Promise<void> {
  const model = kind === 'sparse' ? await loadModel('bow') : undefined;
  const index = await createIndex(folder, { kind, model, fields: { number: 'number' } });
  await index.add(everydayDocuments());
  await index.commit();
  await index.close();
  await model?.close();
}

/** An index of the bag of words, or of BM25, to be served. */
export async function servedFolder(name: string, folder: string, isWritable = false): Promise<ServedIndex> {
  const open = async () => {
    const model = isWritable ? await loadModel('bow') : undefined;
    const index = await openIndex(folder, { model });
    return {
      index,
      close: async () => {
        await index.close();
        await model?.close();
      },
    };
  };
  return await ServedIndex.open({ name, open, isWritable });
}

/** Servers that a test has started, and their indexes. */
export class Servers {
  readonly #open: { readonly server: RunningServer; readonly indexes: readonly ServedIndex[] }[] = [];

  /** Starts one on a free port; the address ends with a slash. */
  async start(indexes: readonly ServedIndex[], options: Omit<ServeOptions, 'indexes'> = {}): Promise<RunningServer> {
    const server = await serve({ indexes, port: 0, ...options });
    this.#open.push({ server, indexes });
    return server;
  }

  /** Ends all of them. */
  async closeAll(): Promise<void> {
    for (const { server, indexes } of this.#open.splice(0)) {
      await server.close();
      for (const index of indexes) await index.close();
    }
  }
}

/** Sends bytes as they are and gives all that comes back until the server closes the connection. */
export async function sendRaw(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {}); // reset by the server, who had said enough
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

/** What came back. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReturnType<typeof JSON.parse>;
};

/** Asks for JSON; a body is sent as JSON. */
export async function ask(url: string, init: RequestInit & { readonly json?: unknown } = {}): Promise<Answer> {
  const { json, ...rest } = init;
  const sent =
    json === undefined
      ? rest
      : {
          method: 'POST',
          ...rest,
          headers: { 'content-type': 'application/json', ...rest.headers },
          body: JSON.stringify(json),
        };
  const response = await fetch(url, sent);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}
