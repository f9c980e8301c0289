/** `lzero model pull` as real processes: killed, interrupted, and two at once; nothing is fetched twice. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FileAnswer, type HubModel, hubOf, serveFile } from '../http/local-hub.ts';
import { type LocalServer, startServer } from '../http/local-server.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const TIMEOUT_MS = 120_000;
/** A download is forced to disk every 16 MiB: what a kill keeps. */
const SAFE_BYTES = 16 * 2 ** 20;
const SENT_BYTES = SAFE_BYTES + 2 ** 20;

const commit = 'c0'.repeat(20);
const weights = Buffer.alloc(2 * SAFE_BYTES, 'weights of a model ');
const model: HubModel = {
  id: 'ocean/large',
  commit,
  files: { 'config.json': Buffer.from('{}'), 'model.safetensors': weights },
  large: ['model.safetensors'],
};

let cache: string;
let hub: LocalServer | undefined;

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'lzero-pull-'));
});
afterEach(async () => {
  await hub?.stop();
  hub = undefined;
  rmSync(cache, { recursive: true });
});

/** Sends a part of the weights to the first who asks, and then nothing. */
const silentAtFirst: FileAnswer = (response, request, file) => {
  if (file.path !== 'model.safetensors' || file.numAsked > 1) return serveFile(response, request, file);
  response.writeHead(200, { etag: file.etag, 'content-length': file.body.length });
  response.write(file.body.subarray(0, SENT_BYTES));
};

function start(server: LocalServer) {
  const clean = { HF_TOKEN: '', HF_HUB_OFFLINE: '', LZERO_OFFLINE: '' };
  const env = { ...process.env, ...clean, LZERO_CACHE: cache, HF_ENDPOINT: server.url };
  const child = spawn(process.execPath, [MAIN, 'model', 'pull', model.id], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (bytes) => {
    stderr += bytes;
  });
  child.stdout.resume();
  return { child, stderr: () => stderr, ended: once(child, 'close') };
}

/** Waits until as much is safe on disk as a kill must not cost. */
async function untilSafe(): Promise<void> {
  const note = join(cache, 'models/ocean--large', `${commit}.unfinished`, 'model.safetensors.part.json');
  const isSafe = (): void =>
    expect(JSON.parse(readFileSync(note, 'utf8')).safeBytes).toBeGreaterThanOrEqual(SAFE_BYTES);
  await vi.waitFor(isSafe, { timeout: TIMEOUT_MS / 2, interval: 50 });
}

const weightsAsked = ({ asked }: LocalServer) => asked.filter(({ path }) => path.endsWith('model.safetensors'));
const whole = (): Buffer => readFileSync(join(cache, 'models/ocean--large', commit, 'model.safetensors'));

describe.skipIf(process.platform === 'win32')('lzero model pull', () => {
  it.each(['SIGKILL', 'SIGINT'] as const)(
    'ended by %s goes on where it was',
    async (signal) => {
      hub = await startServer(hubOf(model, { file: silentAtFirst }));
      const first = start(hub);
      await untilSafe();
      first.child.kill(signal);
      const [exitCode] = await first.ended;
      if (signal === 'SIGINT') {
        expect(exitCode).toBe(130);
        expect(first.stderr()).toContain('go on with: lzero model pull ocean/large');
      }
      expect((await start(hub).ended)[0]).toBe(0);
      expect(whole().equals(weights)).toBe(true);
      const [, second] = weightsAsked(hub);
      expect(Number(/^bytes=(\d+)-$/.exec(second.headers.range ?? '')?.[1])).toBeGreaterThanOrEqual(SAFE_BYTES);
    },
    TIMEOUT_MS,
  );

  it(
    'in two processes at once fetches once',
    async () => {
      hub = await startServer(hubOf(model));
      const both = [start(hub), start(hub)];
      const exitCodes = await Promise.all(both.map(async ({ ended }) => (await ended)[0]));
      expect(exitCodes).toEqual([0, 0]);
      expect(weightsAsked(hub)).toHaveLength(1);
      expect(whole().equals(weights)).toBe(true);
    },
    TIMEOUT_MS,
  );
});
