/** Who may read and who may write, over HTTP. Needs the built page (npm test builds). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, makeEveryday, Servers, servedFolder } from '../../test/server/serving.ts';
import { ConfigError } from '../core/index.ts';
import { parseTokens, type Tokens } from './tokens.ts';

const READ = 'read-token-0123456789';
const WRITE = 'write-token-0123456789';

let folder: string;
const servers = new Servers();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-tokens-'));
  await makeEveryday(join(folder, 'guarded'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Statuses of a search and a commit with a token. */
async function statusesOf(url: string, authorization: string | undefined): Promise<number[]> {
  const headers = authorization === undefined ? {} : { authorization };
  const read = await ask(`${url}v1/search?q=bread`, { headers });
  const write = await ask(`${url}v1/indexes/guarded/commit`, { method: 'POST', headers });
  return [read.status, write.status];
}

async function withServer(tokens: Tokens, work: (url: string, lines: object[]) => Promise<void>): Promise<void> {
  const lines: object[] = [];
  const note = (message: string, fields = {}): number => lines.push({ message, ...fields });
  const logger = { error: note, warn: note, info: note, debug: note };
  const served = await servedFolder('guarded', join(folder, 'guarded'), true);
  const { url } = await servers.start([served], { tokens, logger });
  try {
    await work(url, lines);
  } finally {
    await servers.closeAll();
  }
}

describe('tokens', () => {
  it('give the right to read, or to read and write, and stand in no log and no answer', async () => {
    await withServer({ read: [READ], write: [WRITE] }, async (url, lines) => {
      expect(await statusesOf(url, undefined)).toEqual([401, 401]);
      expect(await statusesOf(url, `Bearer ${READ}`)).toEqual([200, 403]);
      expect(await statusesOf(url, `bearer  ${WRITE}`)).toEqual([200, 200]);
      for (const wrong of ['Bearer', `Bearer ${READ}x`, `Bearer ${READ.slice(1)}`, `Basic ${READ}`, READ, 'Bearer '])
        expect(await statusesOf(url, wrong)).toEqual([401, 401]);
      const refused = await ask(`${url}metrics`, { headers: { authorization: 'Bearer wrong-token-0123456789' } });
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(JSON.stringify([lines, refused.body])).not.toMatch(/-token-/);
      for (const open of ['', 'health/live', 'health/ready', 'openapi.json'])
        expect((await ask(url + open)).status).toBe(200);
    });
  });

  it('to write alone leave reading to everybody', async () => {
    await withServer({ read: [], write: [WRITE] }, async (url) => {
      expect(await statusesOf(url, undefined)).toEqual([200, 401]);
      expect(await statusesOf(url, `Bearer ${WRITE}`)).toEqual([200, 200]);
    });
  });

  it('to read alone leave writing to nobody', async () => {
    await withServer({ read: [READ], write: [] }, async (url) => {
      expect(await statusesOf(url, `Bearer ${READ}`)).toEqual([200, 403]);
    });
  });

  it('come from lines of a file', () => {
    const text = `# for the site\nread ${READ}\n\n  write ${WRITE}  \nread another-token-0123\n`;
    expect(parseTokens(text, 'tokens')).toEqual({ read: [READ, 'another-token-0123'], write: [WRITE] });
  });

  it.each([
    ['a right that is none', `admin ${READ}`],
    ['a token alone', READ],
    ['a token that is short', 'read abc'],
    ['a token that no header can carry', 'read täken-0123456789012'],
  ])('%s is refused with its line and without the token', (_, line) => {
    const parse = () => parseTokens(`\n${line}\n`, 'tokens');
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(/^tokens:2: /);
    expect(parse).not.toThrow(/0123|abc/);
  });
});
