import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, type LocalServer, startServer } from '../../test/http/local-server.ts';
import { InterruptedError } from '../core/index.ts';
import { isNetworkFailure } from './failures.ts';
import { fetchText } from './fetch-text.ts';

const quick = { backoffMs: 1, stallMs: 2000 };
let server: LocalServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function serve(answer: Answer): Promise<LocalServer> {
  server = await startServer(answer);
  return server;
}

describe('a text from a server', () => {
  it('comes whole, in UTF-8, with the headers asked for', async () => {
    const { url, asked } = await serve((response) => response.end('Zürich'));
    expect(await fetchText(url, { headers: { 'x-mine': '1' } })).toBe('Zürich');
    expect(asked[0].headers).toMatchObject({ 'x-mine': '1' });
  });

  it('is asked for again after trouble, after a break and after a silence', async () => {
    const { url, asked } = await serve((response, _, numAsked) => {
      if (numAsked === 1) return void response.writeHead(503).end();
      if (numAsked === 2)
        return void response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy());
      if (numAsked === 3) return; // nothing
      response.end('whole');
    });
    expect(await fetchText(url, { ...quick, stallMs: 1000 })).toBe('whole');
    expect(asked).toHaveLength(4);
  });

  it('of a refusal is an error in the words of whoever knows more', async () => {
    const { url } = await serve((response) => response.writeHead(404, { 'x-why': 'gone' }).end());
    const explainStatus = ({ headers }: Response) => ({ message: `it is ${headers.get('x-why')}`, hint: 'look' });
    await expect(fetchText(url, { ...quick, explainStatus })).rejects.toMatchObject({
      message: 'it is gone',
      hint: 'look',
    });
    const error: unknown = await fetchText(url, quick).catch((reason: unknown) => reason);
    expect([isNetworkFailure(error), String(error)]).toEqual([false, expect.stringContaining('404')]);
  });

  it('of nobody is a failure of the network', async () => {
    const { url, stop } = await startServer(() => {});
    await stop();
    const error: unknown = await fetchText(url, { ...quick, retries: 0 }).catch((reason: unknown) => reason);
    expect(isNetworkFailure(error)).toBe(true);
  });

  it('without end is given up', async () => {
    const piece = Buffer.alloc(2 ** 22);
    const { url } = await serve((response) => {
      const send = (): void => {
        if (!response.destroyed) response.write(piece, send);
      };
      send();
    });
    await expect(fetchText(url, quick)).rejects.toThrow(/longer than/);
  });

  it('stops at an interrupt', async () => {
    const { url } = await serve(() => {});
    await expect(fetchText(url, { ...quick, signal: AbortSignal.timeout(50) })).rejects.toThrow(InterruptedError);
  });
});
