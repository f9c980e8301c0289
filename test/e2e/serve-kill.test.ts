/** `lzero serve --write` killed at random moments of writing: what it has answered with 200 is there afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../../src/core/index.ts';
import { openIndex } from '../../src/engines/index.ts';
import { verifyStore } from '../../src/store/index.ts';
import { ask, makeEveryday } from '../server/serving.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const TIMEOUT_MS = 120_000;
const NUM_KILLS = 5;
const NUM_CLIENTS = 3;

let folder: string;
let index: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-serve-kill-'));
  index = join(folder, 'killed');
  await makeEveryday(index);
});
afterAll(() => rmSync(folder, { recursive: true }));

type Running = { readonly child: ChildProcess; readonly url: string };

async function startServer(): Promise<Running> {
  const args = [MAIN, 'serve', index, '--port', '0', '--workers', '0', '--write', '--quiet', '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, url: JSON.parse(line).url };
}

/** Adds and deletes documents of its own until the server is gone; notes what was acknowledged. */
async function write(
  { url }: Running,
  client: number,
  { random, known }: { random: Random; known: Map<string, string | null> },
) {
  for (let i = 0; ; i++) {
    const id = `${client}-${random.below(20)}`;
    const text = `cathedral ${client} ${i} ${random.below(1_000_000)}`;
    const isDelete = random.below(4) === 0;
    known.delete(id); // until it is acknowledged, it may be either
    const at = `${url}v1/indexes/killed/documents`;
    const commit = random.below(3) === 0;
    const { status } = await (isDelete
      ? ask(`${at}?id=${id}&commit=${commit}`, { method: 'DELETE' })
      : ask(at, { json: { documents: [{ id, text }], commit } }));
    expect(status).toBe(200);
    known.set(id, isDelete ? null : text);
  }
}

describe.skipIf(process.platform === 'win32')(`a server killed ${NUM_KILLS} times while it writes`, () => {
  it(
    'loses no document and no deletion that it acknowledged, and leaves an index that verifies',
    async () => {
      const random = new Random(7);
      /** By id the text, or null where it was deleted; ids whose last write was not answered are not there. */
      const known = new Map<string, string | null>();
      for (let kill = 0; kill < NUM_KILLS; kill++) {
        const running = await startServer();
        const clients = Array.from({ length: NUM_CLIENTS }, (_, client) =>
          write(running, client, { random, known }).catch((error: unknown) => {
            if (!(error instanceof TypeError)) throw error; // of fetch: the server is gone
          }),
        );
        await new Promise((resume) => setTimeout(resume, 300 + random.below(500)));
        running.child.kill('SIGKILL');
        await Promise.all([once(running.child, 'close'), ...clients]);
      }
      expect(known.size).toBeGreaterThan(NUM_CLIENTS);
      const last = await startServer(); // takes up the log, and commits what is in it
      last.child.kill('SIGTERM');
      expect(await once(last.child, 'close')).toEqual([0, null]);
      const reader = await openIndex(index);
      const found = new Map(Array.from(known.keys(), (id) => [id, reader.get(id)?.text ?? null]));
      await reader.close();
      expect(found).toEqual(known);
      expect((await verifyStore(index)).faults).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
