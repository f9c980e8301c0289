/**
 * Servers behind TLS with an authority of one's own: a proxy with a certificate made here, in front of the server that
 * LZERO_OPENSEARCH names, or of a fake.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server as HttpsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evalCommand } from '../../src/cli/eval.ts';
import { opensearchCommand } from '../../src/cli/opensearch.ts';
import { Server } from '../../src/opensearch/index.ts';
import { runCommands } from '../cli/fake-host.ts';
import { type FakeServer, json, startFake } from './fake-server.ts';
import { SERVER_URL } from './real-server.ts';

const canMake = ((): boolean => {
  try {
    execFileSync('openssl', ['version']);
    return true;
  } catch {
    console.log('TLS is not tried: there is no openssl to make certificates with');
    return false;
  }
})();

describe.skipIf(!canMake)('a server behind TLS', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'lzero-tls-'));
  const path = (name: string): string => join(folder, name);
  const openssl = (...words: string[]): Buffer => execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' });
  const headers: (string | undefined)[] = [];
  let fake: FakeServer;
  let proxy: HttpsServer;
  let url: string;
  let ca: string;

  beforeAll(async () => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    openssl('req', '-x509', ...key, '-days', '2', '-subj', '/CN=our authority', '-keyout', 'ca.key', '-out', 'ca.pem');
    openssl('req', ...key, '-subj', '/CN=localhost', '-keyout', 'server.key', '-out', 'server.csr');
    writeFileSync(path('names'), 'subjectAltName=DNS:localhost\n');
    const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
    openssl('x509', '-req', '-in', 'server.csr', ...signing, '-out', 'server.pem');
    ca = readFileSync(path('ca.pem'), 'utf8');
    fake = await startFake(json({ version: { number: '3.6.0', distribution: 'opensearch' } }));
    const target = SERVER_URL ?? fake.url;
    const identity = { key: readFileSync(path('server.key')), cert: readFileSync(path('server.pem')) };
    proxy = createServer(identity, (incoming, response) => {
      headers.push(incoming.headers.authorization);
      const forwarded = request(`${target}${incoming.url}`, { method: incoming.method }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      incoming.pipe(forwarded);
    });
    proxy.listen(0);
    await once(proxy, 'listening');
    const address = proxy.address();
    url = `https://localhost:${typeof address === 'object' ? address?.port : ''}`;
  });
  afterAll(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await fake.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('answers where its authority is named, and gets the token', async () => {
    const server = new Server(url, { ca, credentials: { kind: 'bearer', token: 'secret' } });
    expect(await server.describe()).toMatchObject({ distribution: 'opensearch' });
    expect(headers.at(-1)).toBe('Bearer secret');
    server.close();
  });

  it('is refused at once where it is not, with a hint', async () => {
    const server = new Server(url, { patienceMs: 60_000 });
    const numBefore = headers.length;
    await expect(server.describe()).rejects.toMatchObject({ code: 'SERVER', hint: expect.stringContaining('--ca') });
    expect(headers).toHaveLength(numBefore); // nothing was told to a stranger
    server.close();
  });

  it('is refused by another name than that of its certificate', async () => {
    const server = new Server(url.replace('localhost', '127.0.0.1'), { ca, patienceMs: 60_000 });
    await expect(server.describe()).rejects.toMatchObject({ code: 'SERVER' });
    server.close();
  });

  it('of the wrong kind is named: https to a port that speaks http', async () => {
    const server = new Server(fake.url.replace('http:', 'https:'), { ca, patienceMs: 60_000 });
    await expect(server.describe()).rejects.toMatchObject({ hint: expect.stringContaining('speaks http') });
    server.close();
  });

  it('is reached by the commands with --ca; a file that is not there is named', async () => {
    const search = (file: string) =>
      runCommands([opensearchCommand], ['opensearch', 'search', `${url}/lzero-none`, 'x', '--ca', file]);
    expect((await search(path('ca.pem'))).stderr).toMatch(/no index lzero-none|not made by lzero/);
    const collection = mkdtempSync(join(folder, 'beir-'));
    mkdirSync(join(collection, 'qrels'));
    writeFileSync(join(collection, 'corpus.jsonl'), '{"_id":"a","text":"bread"}\n');
    writeFileSync(join(collection, 'queries.jsonl'), '{"_id":"q","text":"bread"}\n');
    writeFileSync(join(collection, 'qrels/test.tsv'), 'query-id\tcorpus-id\tscore\nq\ta\t1\n');
    const words = ['eval', collection, '--system', `opensearch:${url}/lzero-none`, '--ca', path('ca.pem')];
    expect((await runCommands([evalCommand], words)).stderr).toMatch(/no index lzero-none|not made by lzero/);
    expect(await search(path('none.pem'))).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('none.pem'),
    });
  });
});
