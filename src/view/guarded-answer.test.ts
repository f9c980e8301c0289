/** Answers that fail, over a real socket: an error that escapes would end this process, and vitest would tell. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type LocalServer, startServer } from '../../test/http/local-server.ts';
import { guardedAnswer } from './guarded-answer.ts';

let server: LocalServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** A server whose first answer is the given one, and whose others are well. */
async function serveFirst(answer: (response: ServerResponse) => void | Promise<void>): Promise<string> {
  server = await startServer((response, _, numAsked) => {
    void guardedAnswer(response, () => (numAsked === 1 ? answer(response) : void response.end('well')));
  });
  return server.url;
}

describe('an answer that fails', () => {
  const failures: [string, (response: ServerResponse) => void | Promise<void>][] = [
    ['at once', () => JSON.parse('{')],
    ['later', async () => JSON.parse(await Promise.resolve('{'))],
    ['over a header', (response) => void response.writeHead(200, { 'content-length': 9e9, 'x-bad': '\n' })],
  ];
  it.each(failures)('%s is a 500 that says why, and the next one is given', async (_, answer) => {
    const url = await serveFirst(answer);
    const first = await fetch(url);
    expect([first.status, await first.text()]).toEqual([
      500,
      expect.stringMatching(/^the view could not answer: .+\n$/),
    ]);
    expect(await (await fetch(url)).text()).toBe('well');
  });

  it('after it has begun is broken off, and the next one is given', async () => {
    const url = await serveFirst((response) => {
      response.write('half');
      throw new Error('of an answer');
    });
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
    expect(await (await fetch(url)).text()).toBe('well');
  });
});
