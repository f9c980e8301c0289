/** So many requests a second for each client: the arithmetic by a clock of its own, the answers over a real socket. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, makeEveryday, Servers, servedFolder } from '../../test/server/serving.ts';
import { ConfigError } from '../core/index.ts';
import { networkOf, RateLimit } from './rate-limit.ts';
import type { ServeOptions } from './serve.ts';

describe('a rate of 2 a second', () => {
  const make = () => {
    const clock = { ms: 0 };
    const rates = new RateLimit(2, () => clock.ms);
    const take = (client: string): number => {
      try {
        rates.take(client);
        return 200;
      } catch (error) {
        return (error as { status: number }).status;
      }
    };
    return { clock, rates, take };
  };

  it('lets four through at once, then one each half second, and no more than four after a long silence', () => {
    const { clock, take } = make();
    const burst = () => Array.from({ length: 6 }, () => take('a'));
    expect(burst()).toEqual([200, 200, 200, 200, 429, 429]);
    clock.ms = 499;
    expect(take('a')).toBe(429);
    clock.ms = 500;
    expect([take('a'), take('a')]).toEqual([200, 429]);
    clock.ms = 1e9;
    expect(burst()).toEqual([200, 200, 200, 200, 429, 429]);
  });

  it('is that of each client, and says when to come back', () => {
    const { rates, take } = make();
    while (take('a') === 200);
    expect(take('b')).toBe(200);
    expect(() => rates.take('a')).toThrow(
      expect.objectContaining({ status: 429, code: 'RATE_LIMIT', headers: { 'retry-after': '1' } }),
    );
  });

  it('remembers 10,000 clients at most, those who asked last', () => {
    const { rates, take } = make();
    while (take('busy') === 200);
    for (let i = 0; i < 20_000; i++) {
      rates.take(`c${i}`);
      if (i % 1000 === 0) expect(take('busy')).toBe(429);
    }
    expect(rates.numClients).toBe(10_000);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('cannot be %s', (rate) => {
    expect(() => new RateLimit(rate)).toThrow(ConfigError);
  });
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['', ''],
])('%s stands for %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

describe('a server with a rate', () => {
  const [READ, OTHER] = ['read-0123456789abcdef', 'other-0123456789abcdef'];
  const servers = new Servers();
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lzero-rate-'));
    await makeEveryday(join(folder, 'learned'));
  });
  afterEach(() => servers.closeAll());
  afterAll(() => rmSync(folder, { recursive: true }));

  const start = async (options: Omit<ServeOptions, 'indexes'>) =>
    (await servers.start([await servedFolder('learned', join(folder, 'learned'))], options)).url;
  /** Statuses of some requests, one after the other. */
  const statuses = async (url: string, headers: Readonly<Record<string, string>> = {}, count = 3) => {
    const found: number[] = [];
    for (let i = 0; i < count; i++) found.push((await ask(`${url}v1/search?q=bread`, { headers })).status);
    return found;
  };
  /** So slow that no test waits for the next. */
  const RATE = 0.001;

  it('answers 429 with a time to come back, and leaves health and page alone', async () => {
    const url = await start({ rate: RATE });
    expect(await statuses(url)).toEqual([200, 429, 429]);
    const { headers, body } = await ask(`${url}v1/search?q=bread`);
    expect(body.error).toMatchObject({ code: 'RATE_LIMIT', hint: expect.stringMatching(/^ask again in \d+ s$/) });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(900);
    for (const free of ['health/live', 'health/ready', 'openapi.json', ''])
      expect((await ask(url + free)).status).toBe(200);
  });

  it('counts by token, and by address where the token is not known', async () => {
    const url = await start({ rate: RATE, tokens: { read: [READ, OTHER], write: [] } });
    expect(await statuses(url, { authorization: `Bearer ${READ}` }, 2)).toEqual([200, 429]);
    expect(await statuses(url, { authorization: `Bearer ${OTHER}` }, 2)).toEqual([200, 429]);
    const guesses = ['a', 'b', 'c'].map((letter) => ({ authorization: `Bearer ${letter.repeat(20)}` }));
    const found: number[] = [];
    for (const headers of guesses) found.push(...(await statuses(url, headers, 1)));
    expect(found).toEqual([401, 429, 429]);
  });

  it('takes the word of a proxy for who asks, only where it was told to', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': `203.0.113.9, ${address}` });
    const trusting = await start({ rate: RATE, clientHeader: 'x-forwarded-for' });
    expect(await statuses(trusting, from('192.0.2.1'), 2)).toEqual([200, 429]);
    expect(await statuses(trusting, from('192.0.2.2'), 2)).toEqual([200, 429]);
    const other = await start({ rate: RATE });
    expect(await statuses(other, from('192.0.2.1'), 1)).toEqual([200]);
    expect(await statuses(other, from('192.0.2.2'), 1)).toEqual([429]);
  });
});
