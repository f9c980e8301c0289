/** Servers that misbehave: every kind of failure has a name, and waiting ends. */
import dns from 'node:dns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type FakeAnswer,
  type FakeServer,
  halfABody,
  json,
  refusal,
  silence,
  startFake,
} from '../../test/opensearch/fake-server.ts';
import { Server, type ServerOptions } from './server.ts';

let fake: FakeServer | undefined;
let server: Server | undefined;
afterEach(async () => {
  server?.close();
  await fake?.stop();
});

/** Pauses of milliseconds: tests do not wait for real ones. */
async function serverThat(answers: readonly FakeAnswer[], options: ServerOptions = {}): Promise<Server> {
  fake = await startFake(...answers);
  server = new Server(fake.url, { backoffMs: 1, patienceMs: 20, stallMs: 200, requestMs: 1000, ...options });
  return server;
}
/** For servers that answer in the end, however busy this machine is. */
const PATIENT = { patienceMs: 30_000, stallMs: 30_000, requestMs: 30_000 };
const ROOT = { method: 'GET', path: '/' } as const;

/** What a resolver says of a name that it does not know, or while it cannot ask anybody. */
function unknownName(code: string): typeof dns.lookup {
  const answer = (...given: unknown[]): void => {
    const done = given.at(-1);
    if (typeof done === 'function') setImmediate(() => done(Object.assign(new Error(`getaddrinfo ${code}`), { code })));
  };
  return Object.assign(answer, { __promisify__: dns.lookup.__promisify__ });
}

describe('a server', () => {
  it('gives the JSON of its answer', async () => {
    const asked = await serverThat([json({ ok: true })]);
    expect(await asked.ask(ROOT)).toEqual({ status: 200, body: { ok: true } });
  });

  it.each([429, 502, 503, 504])('that answers %i is asked again, and then answers', async (status) => {
    const asked = await serverThat([refusal(status, 'busy'), refusal(status, 'busy'), json({ ok: true })], PATIENT);
    expect((await asked.ask(ROOT)).body).toEqual({ ok: true });
    expect(fake?.asked).toHaveLength(3);
  });

  it('that answers 429 for ever is given up with its reason, after a bounded number of attempts', async () => {
    const asked = await serverThat([refusal(429, 'rejected', 'queue is full')]);
    await expect(asked.ask(ROOT)).rejects.toMatchObject({ code: 'SERVER', status: 429, reasonType: 'rejected' });
    expect(fake?.asked.length).toBeLessThan(12);
  });

  it('whose Retry-After is longer than our patience is not waited for', async () => {
    const asked = await serverThat([json({}, 429, { 'retry-after': '3600' })]);
    await expect(asked.ask(ROOT)).rejects.toMatchObject({ status: 429 });
    expect(fake?.asked).toHaveLength(1);
  });

  it('that answers 500 is not asked again: the error has status, type and reason', async () => {
    const asked = await serverThat([refusal(500, 'null_pointer_exception', 'oops')]);
    await expect(asked.ask(ROOT)).rejects.toMatchObject({
      code: 'SERVER',
      status: 500,
      message: expect.stringContaining('oops'),
    });
    expect(fake?.asked).toHaveLength(1);
  });

  it('that breaks off in the middle of its answer is asked again, and then given up by name', async () => {
    const asked = await serverThat([halfABody()]);
    await expect(asked.ask(ROOT)).rejects.toMatchObject({ code: 'SERVER', status: undefined });
    expect(fake?.asked.length).toBeGreaterThan(1);
  });

  it('that breaks off once and then answers has answered', async () => {
    const asked = await serverThat([halfABody(), json({ ok: 1 })], PATIENT);
    expect((await asked.ask(ROOT)).body).toEqual({ ok: 1 });
  });

  it('is not asked twice for what may be done only once, but where it surely was not done', async () => {
    const broken = await serverThat([halfABody(), json({ ok: 1 })], PATIENT);
    await expect(broken.ask(ROOT, { once: true })).rejects.toThrow(/whether it was done is not known/);
    expect(fake?.asked).toHaveLength(1);
    broken.close();
    await fake?.stop();
    const busy = await serverThat([refusal(429, 'busy'), json({ ok: 1 })], PATIENT);
    expect((await busy.ask(ROOT, { once: true })).body).toEqual({ ok: 1 });
  });

  it('that says nothing is given up after its time', async () => {
    const asked = await serverThat([silence], { stallMs: 50, patienceMs: 1 });
    await expect(asked.ask(ROOT)).rejects.toMatchObject({
      code: 'SERVER',
      message: expect.stringContaining('no answer for'),
    });
  });

  it('that says nothing costs its patience and one attempt more, not an attempt for each pause', async () => {
    const asked = await serverThat([silence], { stallMs: 100, patienceMs: 250 });
    await expect(asked.ask(ROOT)).rejects.toMatchObject({ code: 'SERVER' });
    expect(fake?.asked.length).toBeLessThanOrEqual(4); // at 0, 100, 200 and 300 ms
  });

  it('that is slower than the longest silence is given twice the time at each attempt, and keeps it for the next request', async () => {
    const late: FakeAnswer = (response, asked) => {
      const timer = setTimeout(() => json({ ok: 1 })(response, asked), 300);
      response.on('close', () => clearTimeout(timer));
    };
    const asked = await serverThat([late], { stallMs: 50, patienceMs: 30_000, requestMs: 30_000 });
    let numBusy = 0;
    expect((await asked.ask(ROOT, { onBusy: () => numBusy++ })).body).toEqual({ ok: 1 });
    const numAttempts = fake?.asked.length ?? 0;
    expect(numAttempts).toBeGreaterThanOrEqual(4); // of 50, 100, 200 and 400 ms, or one more on a busy machine
    expect(numAttempts).toBeLessThanOrEqual(6);
    expect(numBusy).toBe(numAttempts - 1);
    await asked.ask(ROOT);
    expect(fake?.asked.length).toBeLessThanOrEqual(numAttempts + 2); // one, where the machine is not much slower than before
  });

  it('that drips is given up after the time for a whole answer', async () => {
    const drip: FakeAnswer = (response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    };
    const asked = await serverThat([drip], { requestMs: 150, patienceMs: 1 });
    await expect(asked.ask(ROOT)).rejects.toMatchObject({ code: 'SERVER' });
  });

  it('that nobody is, is named with a hint', async () => {
    const gone = await startFake(json({}));
    await gone.stop();
    server = new Server(gone.url, { backoffMs: 1, patienceMs: 5 });
    await expect(server.ask(ROOT)).rejects.toMatchObject({
      code: 'SERVER',
      hint: expect.stringContaining('nobody listens'),
    });
  });

  it.each(['ENOTFOUND', 'EAI_AGAIN'])('whose name was never found (%s) is named at once, with a hint', async (code) => {
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(unknownName(code));
    server = new Server('http://search.invalid', PATIENT);
    await expect(server.ask(ROOT)).rejects.toMatchObject({
      code: 'SERVER',
      hint: expect.stringContaining('spelled right'),
    });
    expect(lookup).toHaveBeenCalledTimes(1);
    lookup.mockRestore();
  });

  it.each(['ENOTFOUND', 'EAI_AGAIN'])(
    'whose name was found before (%s) is asked again, within patience',
    async (code) => {
      fake = await startFake(json({ ok: 1 }, 200, { connection: 'close' }));
      const find = dns.lookup;
      server = new Server(fake.url.replace('127.0.0.1', 'localhost'), { backoffMs: 1, ...PATIENT });
      await server.ask(ROOT);
      const lookup = vi.spyOn(dns, 'lookup').mockImplementationOnce(unknownName(code)).mockImplementation(find);
      expect((await server.ask(ROOT, { once: true })).body).toEqual({ ok: 1 }); // what nobody heard is not done
      lookup.mockImplementation(unknownName(code));
      await expect(server.ask(ROOT, { patienceMs: 20 })).rejects.toMatchObject({ code: 'SERVER' });
      expect(lookup.mock.calls.length).toBeGreaterThan(3);
      lookup.mockRestore();
    },
  );

  it('that says nothing for as long as the slowest request may take is not asked again', async () => {
    const asked = await serverThat([silence], { patienceMs: 60_000 });
    await expect(asked.ask(ROOT, { stallMs: 50 })).rejects.toThrow(/no answer for 0.05 s/);
    expect(fake?.asked).toHaveLength(1);
  });

  it('that answers with more than was agreed is cut off', async () => {
    const asked = await serverThat([json({ text: 'x'.repeat(5000) })], { maxAnswerBytes: 1000, patienceMs: 1 });
    await expect(asked.ask(ROOT)).rejects.toMatchObject({ message: expect.stringContaining('more than 1000 bytes') });
  });

  it.each(['<html>hello</html>', '42', '"text"'])('that answers %s is no OpenSearch', async (text) => {
    const asked = await serverThat([(response) => response.writeHead(200).end(text)]);
    await expect(asked.ask(ROOT)).rejects.toMatchObject({
      code: 'SERVER',
      hint: expect.stringContaining('OpenSearch'),
    });
  });

  it('gets credentials with every request', async () => {
    const asked = await serverThat([json({})], { credentials: { kind: 'basic', user: 'me', password: 'p' } });
    await asked.ask(ROOT);
    expect(fake?.asked[0].authorization).toBe(`Basic ${Buffer.from('me:p').toString('base64')}`);
  });

  it('gets tokens, API keys and signatures', async () => {
    const bearer = await serverThat([json({})], { credentials: { kind: 'bearer', token: 't' } });
    await bearer.ask(ROOT);
    expect(fake?.asked[0].authorization).toBe('Bearer t');
    bearer.close();
    await fake?.stop();
    const signed = await serverThat([json({})], {
      sign: ({ method, path }) => ({ authorization: `signed ${method} ${path}` }),
    });
    await signed.ask(ROOT);
    expect(fake?.asked[0].authorization).toBe('signed GET /');
  });

  it('is described by version and plugins, asked once; plugins may be kept secret', async () => {
    const version = { number: '3.6.0', distribution: 'opensearch' };
    const asked = await serverThat([json({ version }), refusal(403, 'security_exception')], PATIENT);
    expect(await asked.describe()).toEqual({ version: '3.6.0', distribution: 'opensearch', plugins: undefined });
    await asked.describe();
    expect(fake?.asked).toHaveLength(2);
  });

  it('an interrupt ends the waiting', async () => {
    const controller = new AbortController();
    const asked = await serverThat([silence], { signal: controller.signal, stallMs: 60_000, requestMs: 60_000 });
    const answer = asked.ask(ROOT);
    setTimeout(() => controller.abort(), 20);
    await expect(answer).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});
