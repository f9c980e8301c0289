import { afterEach, describe, expect, it } from 'vitest';
import {
  bulkAnswer,
  type FakeAnswer,
  type FakeServer,
  json,
  refusal,
  startFake,
} from '../../test/opensearch/fake-server.ts';
import { type BulkOptions, BulkWriter, type Rejection } from './bulk-writer.ts';
import { Server } from './server.ts';

let fake: FakeServer;
let server: Server;
afterEach(async () => {
  server.close();
  await fake.stop();
});

async function writerTo(answers: readonly FakeAnswer[], options: BulkOptions = {}): Promise<BulkWriter> {
  fake = await startFake(...answers);
  server = new Server(fake.url, { backoffMs: 1 });
  return new BulkWriter(server, 'docs', { patienceMs: 30_000, ...options });
}

async function writeAll(writer: BulkWriter, ids: readonly string[]): Promise<void> {
  for (const id of ids) await writer.write({ kind: 'index', id, source: JSON.stringify({ id }) });
  await writer.flush();
}

const idsOf = (body: string): string[] => Array.from(body.matchAll(/"_id":"([^"]+)"/g), ([, id]) => id);
const sentIds = (): string[][] => fake.asked.map(({ body }) => idsOf(body));

describe('a bulk writer', () => {
  it('sends batches of the agreed size, and counts what was taken', async () => {
    const writer = await writerTo([bulkAnswer(() => 201)], { batchDocs: 2, maxInFlight: 1 });
    await writeAll(writer, ['a', 'b', 'c', 'd', 'e']);
    expect(sentIds()).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(writer.numIndexed).toBe(5);
  });

  it('sends again only what was not taken for the moment', async () => {
    const writer = await writerTo([bulkAnswer((id) => (id === 'b' ? 429 : 201)), bulkAnswer(() => 201)]);
    await writeAll(writer, ['a', 'b', 'c']);
    expect(sentIds()).toEqual([['a', 'b', 'c'], ['b']]);
    expect(writer.numIndexed).toBe(3);
  });

  it('gives up a server that stays too busy, by name', async () => {
    const writer = await writerTo([bulkAnswer(() => 429)], { patienceMs: 50 });
    await expect(writeAll(writer, ['a'])).rejects.toMatchObject({ code: 'SERVER', status: 429 });
  });

  it('hands out what is refused for good with the reason, and goes on', async () => {
    const rejected: Rejection[] = [];
    const onRejected = (rejection: Rejection): void => void rejected.push(rejection);
    const writer = await writerTo([bulkAnswer((id) => (id === 'b' ? 400 : 201))], { onRejected });
    await writeAll(writer, ['a', 'b', 'c']);
    expect(rejected).toEqual([
      { id: 'b', status: 400, type: 'mapper_parsing_exception', reason: 'no b', source: '{"id":"b"}' },
    ]);
    expect([writer.numIndexed, writer.numRejected]).toEqual([2, 1]);
  });

  it.each([
    ['the probe too: the index is at fault, and no document is', 400, 'SERVER', []],
    ['not the probe: the documents are at fault', 409, undefined, ['a', 'b']],
  ] as const)('refused as a whole, and %s', async (_, probeStatus, code, expected) => {
    const rejected: string[] = [];
    const answer = bulkAnswer((id) => (id === 'a' || id === 'b' ? 400 : probeStatus));
    const options = { onRejected: ({ id }: Rejection) => void rejected.push(id), probe: () => '{"id":"probe"}' };
    const writing = writeAll(await writerTo([answer], options), ['a', 'b']);
    await (code ? expect(writing).rejects.toMatchObject({ code, status: 400 }) : writing);
    expect(rejected).toEqual(expected);
    expect(fake.asked).toHaveLength(2);
    expect(fake.asked[1].body).toMatch(/"if_seq_no":9007199254740991.*\n\{"id":"probe"\}\n$/); // never kept
  });

  it('stops at what is refused for good where nobody takes it', async () => {
    const writer = await writerTo([bulkAnswer(() => 400)]);
    await expect(writeAll(writer, ['a'])).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining('"a"'),
    });
  });

  it.each([401, 403, 404, 500])('stops at a status of %i, which is no fault of the document', async (status) => {
    const rejected: Rejection[] = [];
    const onRejected = (rejection: Rejection): void => void rejected.push(rejection);
    const writer = await writerTo([bulkAnswer((id) => (id === 'b' ? status : 201))], { onRejected });
    await expect(writeAll(writer, ['a', 'b', 'c'])).rejects.toMatchObject({ code: 'SERVER', status });
    expect(rejected).toEqual([]);
  });

  it.each<[string, FakeAnswer]>([
    ['the server', refusal(413, 'too_large')],
    ['a proxy, in HTML', (response) => response.writeHead(413).end('<html>too large</html>')],
  ])('halves a request that is too large for %s, down to the one document that is', async (_, refuse) => {
    const rejected: string[] = [];
    const tooLarge: FakeAnswer = (response, asked) =>
      idsOf(asked.body).includes('big') ? refuse(response, asked) : bulkAnswer(() => 201)(response, asked);
    let numDone = 0;
    const onAcknowledged = (count: number): void => {
      numDone += count;
    };
    const writer = await writerTo([tooLarge], { onRejected: ({ id }) => void rejected.push(id), onAcknowledged });
    await writeAll(writer, ['a', 'b', 'big', 'c']);
    expect(rejected).toEqual(['big']);
    expect([writer.numIndexed, numDone]).toEqual([3, 4]);
  });

  it('sends fewer batches at a time after a 429, and one more again after eight calm ones', async () => {
    const seen: number[] = []; // how many were on their way when each came
    const held: (() => void)[] = [];
    const answer: FakeAnswer = (response, asked) => {
      const number = seen.push(held.length + 1);
      held.push(() => bulkAnswer(() => (number === 4 ? 429 : 201))(response, asked));
      const waits = (number < 4 || (number > 40 && number < 57)) && held.length < 4; // until four are there
      if (!waits) for (const release of held.splice(0)) release();
    };
    const writer = await writerTo([answer], { batchDocs: 1, maxInFlight: 4 });
    await writeAll(
      writer,
      Array.from({ length: 60 }, (_, i) => `d${i}`),
    );
    expect(Math.max(...seen.slice(0, 4))).toBe(4);
    expect(Math.max(...seen.slice(4, 12))).toBeLessThanOrEqual(2);
    expect(Math.max(...seen.slice(40))).toBe(4);
    expect(writer.numIndexed).toBe(60);
  });

  it('two changes of one id are never on their way together: the later one stays', async () => {
    const writer = await writerTo([bulkAnswer(() => 201)], { batchDocs: 10, maxInFlight: 4 });
    await writer.write({ kind: 'index', id: 'x', source: '{"v":1}' });
    await writer.write({ kind: 'index', id: 'x', source: '{"v":2}' });
    await writer.flush();
    expect(fake.asked.map(({ body }) => /"v":(\d)/.exec(body)?.[1])).toEqual(['1', '2']);
  });

  it('a bulk that is answered for fewer documents is an error, not a loss', async () => {
    const writer = await writerTo([json({ errors: false, items: [] })]);
    await expect(writeAll(writer, ['a'])).rejects.toThrow(/a bulk of 1 was answered for 0/);
  });

  it('never has more on its way than agreed', async () => {
    let [open, most] = [0, 0];
    const slow: FakeAnswer = (response, asked) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        bulkAnswer(() => 201)(response, asked);
      }, 5);
    };
    const writer = await writerTo([slow], { batchDocs: 1, maxInFlight: 3 });
    await writeAll(
      writer,
      Array.from({ length: 20 }, (_, i) => `d${i}`),
    );
    expect(most).toBe(3);
    expect(writer.numIndexed).toBe(20);
  });
});
