/** What the server of a view answers, to whom, and what it tells of changes. Needs the built page (npm test builds). */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../test/http/local-server.ts';
import { makeRun } from '../../test/view/make-run.ts';
import { decodeRows, Rows } from '../../web/view/rows.ts';
import { readPageFiles } from '../files/index.ts';
import { type View, viewRuns } from './view-server.ts';

let folder: string;
let view: View | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-view-'));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
  await view?.close();
  view = undefined;
});

async function serve(...names: string[]): Promise<View> {
  view = await viewRuns(
    names.map((name) => join(folder, name)),
    { port: 0 },
  );
  return view;
}

/** Asks with headers that `fetch` does not let one set. */
function asked(url: string, headers: Record<string, string>, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers, method }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

/** Asks for a target as it is written: `fetch` and `request` would put it right. */
function askedAsWritten(url: string, target: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
      socket.write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`),
    );
    socket
      .on('data', (bytes) => {
        text += bytes;
      })
      .on('error', reject)
      .on('end', () => resolve(text.split('\r\n')[0]));
  });
}

describe('the server of a view', () => {
  it('gives the page and its files, which ask for nothing elsewhere', async () => {
    const { url } = await serve('none.run');
    const page = await fetch(url);
    const html = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(html).not.toMatch(/(?:src|href)="(?!\.\/)/); // only files beside it
    const files = Array.from(html.matchAll(/(?:src|href)="\.\/([^"]+)"/g), ([, path]) => path);
    expect(files.length).toBe(3);
    for (const path of files) {
      const file = await fetch(url + path);
      expect([file.status, file.headers.get('cache-control')]).toEqual([200, 'max-age=31536000, immutable']);
    }
  });

  it.each([
    ['127.0.0.1:6410', 200],
    ['localhost:1', 200],
    ['[::1]:80', 200],
    ['evil.example:6410', 403],
    ['127.0.0.1.evil.example', 403],
  ])('asked for as %j answers %d', async (host, status) => {
    const { url } = await serve('none.run');
    expect(await asked(url, { host })).toBe(status);
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('refuses %s', async (method) => {
    const { url } = await serve('none.run');
    expect(await asked(url, {}, method)).toBe(405);
  });

  it.each([
    'api/runs/1',
    'api/runs/x',
    'api/runs',
    '../package.json',
    '..%2f..%2fpackage.json',
    'assets/',
    'index.html',
  ])('has no %s', async (path) => {
    const { url } = await serve('none.run');
    expect((await fetch(url + path)).status).toBe(404);
  });

  it.each([
    ['//', 404],
    ['///x', 404],
    ['/\\', 404],
    ['/%', 404],
    ['/?%&=%zz', 200],
    ['/api/runs/0/lengths?step=%', 200],
    ['http://127.0.0.1/', 200],
    ['HTTP://localhost:6410/api/runs/0?x', 200],
    ['http://127.0.0.1', 200],
    ['http://127.0.0.1//', 404],
    ['http://evil.example/', 403],
    ['https://evil.example/api/runs/0', 403],
    ['http://127.0.0.1@evil.example/', 403],
    ['http://[', 403],
    ['*', 404],
  ])('asked for %j as it is written answers %d, and goes on to answer', async (target, status) => {
    const { url } = await serve('none.run');
    expect(await askedAsWritten(url, target)).toMatch(`HTTP/1.1 ${status} `);
    expect((await fetch(url)).status).toBe(200);
  });

  it('gives rows as the file has them, from any one on, and all where the generation is another', async () => {
    makeRun(join(folder, 'rows.run'), { numLines: 3000, evaluateEvery: 1000 });
    const { url, runs } = await serve('rows.run');
    const { generation } = runs[0];
    const rows = async (query: string) =>
      decodeRows(await (await fetch(`${url}api/runs/0/rows?${query}`)).arrayBuffer());
    const all = await rows(`generation=${generation}&from=0`);
    expect([all.from, all.numRows, all.names[0], all.columns[0][2999]]).toEqual([0, 3000, 'step', 30_000]);
    const last = await rows(`generation=${generation}&from=2990`);
    expect([last.from, last.numRows, last.columns[1][9]]).toEqual([2990, 10, all.columns[1][2999]]);
    for (const query of [
      '',
      'generation=1&from=2990',
      `generation=${generation}&from=-1`,
      `generation=${generation}&from=9e9`,
    ])
      expect((await rows(query)).from).toBe(0);
    const page = new Rows();
    expect(page.receive(last)).toBe(false); // rows before are missing
    expect([page.receive(all), page.receive(last), page.numRows]).toEqual([true, true, 3000]);
    expect(page.last('step')).toBe(30_000);
  });

  it('calls runs of one name by the folders that they are in', async () => {
    const { url, runs } = await serve('exp1/train.run', 'exp2/train.run', 'other.run');
    const names = ['exp1/train.run', 'exp2/train.run', 'other.run'];
    expect(runs.map(({ name }) => name)).toEqual(names);
    expect(await (await fetch(`${url}api/runs/1`)).json()).toMatchObject({ id: 1, name: names[1] });
  });

  it('gives lengths at a step, and null before the first', async () => {
    makeRun(join(folder, 'lengths.run'), { numLines: 100 });
    const { url } = await serve('lengths.run');
    const lengths = async (step: unknown) => await (await fetch(`${url}api/runs/0/lengths?step=${step}`)).json();
    expect(await lengths(1e9)).toMatchObject({ step: 1000, bins: expect.any(Array) });
    expect([await lengths(0), await lengths('x')]).toEqual([null, null]);
  });

  it('tells at once what there is, and then every change', async () => {
    const { addLine } = makeRun(join(folder, 'live.run'), { numLines: 5 });
    const { url } = await serve('live.run');
    const stop = new AbortController();
    const { body } = await fetch(`${url}api/events`, { signal: stop.signal });
    const seen: number[] = [];
    let text = '';
    for await (const bytes of body ?? []) {
      text += Buffer.from(bytes).toString();
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) seen.push(JSON.parse(event.replace(/^data: /, ''))[0].numRows);
      if (seen.length === 1) addLine();
      else break;
    }
    stop.abort();
    expect(seen).toEqual([5, 6]);
  });

  it('takes another port where the usual one is taken, but not in place of one that was asked for', async () => {
    const other = await startServer((response) => response.end());
    const port = Number(new URL(other.url).port);
    await expect(viewRuns([folder], { port })).rejects.toMatchObject({
      code: 'VIEW',
      hint: expect.stringContaining('port'),
    });
    await other.stop();
    const [first, second] = [await viewRuns([folder]), await viewRuns([folder])];
    expect(first.url).not.toBe(second.url);
    await Promise.all([first.close(), second.close()]);
  });

  it('says how to build a page that is missing', async () => {
    await expect(readPageFiles(join(folder, 'nowhere'))).rejects.toMatchObject({ code: 'PAGE', hint: 'npm run build' });
  });
});
