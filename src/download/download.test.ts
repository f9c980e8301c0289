import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, breakAfter, type LocalServer, serveBytes, startServer } from '../../test/http/local-server.ts';
import { DownloadError, InterruptedError, OutputError, Random } from '../core/index.ts';
import { download } from './download.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lzero-download-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const random = new Random(7);
const body = Buffer.from(Uint8Array.from({ length: 300_000 }, () => 256 * random.uniform()));
const other = Buffer.from(Uint8Array.from({ length: 200_000 }, () => 256 * random.uniform()));
const sha256 = { kind: 'sha256', hex: createHash('sha256').update(body).digest('hex') } as const;
const md5 = { kind: 'md5', hex: createHash('md5').update(body).digest('hex') } as const;
const file = { body, etag: '"one"' };
const quick = { backoffMs: 1, stallMs: 2000 };

let path = '';
let folder = '';
let server: LocalServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(scratch, 'case-'));
  path = join(folder, 'sub', 'file.bin');
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function serve(answer: Answer): Promise<LocalServer> {
  server = await startServer(answer);
  return server;
}

/** Names beside the target: nothing but the target may stay. */
const leftOver = (): string[] => readdirSync(join(folder, 'sub')).filter((name) => name !== 'file.bin');
/** Paths of the files that this process has open. */
const openFiles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(join('/proc/self/fd', fd));
    } catch {
      return []; // the one that the list was read by
    }
  });
const ranges = ({ asked }: LocalServer): (string | undefined)[] => asked.map(({ headers }) => headers.range);

describe('download', () => {
  it('brings the file under its name, with its SHA-256, and leaves nothing beside it', async () => {
    const { url } = await serve((response, request) => serveBytes(response, request, file));
    const result = await download(`${url}/a`, path, { checksum: md5, sizeBytes: body.length });
    expect(result).toEqual({ path, sizeBytes: body.length, sha256: sha256.hex, wasThere: false });
    expect(readFileSync(path).equals(body)).toBe(true);
    expect(leftOver()).toEqual([]);
  });

  it('asks for uncompressed bytes and sends the headers it was given', async () => {
    const { url, asked } = await serve((response, request) => serveBytes(response, request, file));
    await download(url, path, { headers: { authorization: 'Bearer x' } });
    expect(asked[0].headers).toMatchObject({ 'accept-encoding': 'identity', authorization: 'Bearer x' });
  });

  it('asks nobody when a file that fits is there, and replaces one that does not', async () => {
    const { url, asked } = await serve((response, request) => serveBytes(response, request, file));
    await download(url, path, { checksum: sha256 });
    expect(await download(url, path, { checksum: sha256 })).toMatchObject({ wasThere: true, sha256: sha256.hex });
    expect(asked).toHaveLength(1);
    writeFileSync(path, 'damaged');
    expect(await download(url, path, { checksum: sha256 })).toMatchObject({ wasThere: false });
    expect(readFileSync(path).equals(body)).toBe(true);
  });

  it('does not read a file whose size tells that it is another: 64 GiB of nothing', async () => {
    const { url } = await serve((response, request) => serveBytes(response, request, file));
    mkdirSync(join(folder, 'sub'));
    writeFileSync(path, '');
    truncateSync(path, 2 ** 36);
    const options = { checksum: sha256, sizeBytes: body.length };
    expect(await download(url, path, options)).toMatchObject({ wasThere: false, sizeBytes: body.length });
  });

  it("holds a file against git's checksum, also after a break", async () => {
    const hex = createHash('sha1').update(`blob ${body.length}\0`).update(body).digest('hex');
    const { url } = await serve((response, request, numAsked) =>
      numAsked === 1 ? breakAfter(response, 100_000, file) : serveBytes(response, request, file),
    );
    const checksum = { kind: 'git-blob', hex, sizeBytes: body.length } as const;
    expect(await download(url, path, { ...quick, checksum })).toMatchObject({ sha256: sha256.hex });
    const wrong = { ...checksum, hex: '0'.repeat(40) };
    await expect(download(url, path, { ...quick, checksum: wrong })).rejects.toThrow(
      `expected git-blob ${wrong.hex}, got ${hex}`,
    );
  });

  it('takes an empty file', async () => {
    const { url } = await serve((response) => response.writeHead(200, { 'content-length': 0 }).end());
    expect(await download(url, path)).toMatchObject({ sizeBytes: 0 });
    expect(readFileSync(path)).toHaveLength(0);
  });

  it('follows redirects, without the token when they lead to another host', async () => {
    const target = await startServer((response, request) => serveBytes(response, request, file));
    const { url, asked } = await serve((response) =>
      response.writeHead(302, { location: `${target.url.replace('127.0.0.1', 'localhost')}/b` }).end(),
    );
    await download(url, path, { headers: { authorization: 'Bearer x' }, checksum: sha256 });
    expect([asked[0].headers.authorization, target.asked[0].headers.authorization]).toEqual(['Bearer x', undefined]);
    await target.stop();
  });

  it.each([
    ['in a circle', { location: '/a' }, 'redirected to nowhere (after 20 redirects)'],
    ['to a file', { location: 'file:///etc/hostname' }, 'redirected to nowhere (the scheme file:)'],
    ['to no address', { location: 'http://[' }, 'redirected to nowhere (an address that is none)'],
    [
      'with a password',
      { location: 'http://me:secret@127.0.0.1/' },
      'redirected to nowhere (an address with a password)',
    ],
    ['without an address', {}, 'redirected to nowhere (302 without Location)'],
    ['to a port that is never a web server', { location: 'http://127.0.0.1:1/x' }, 'leads nowhere (bad port)'],
  ])('refuses a redirect %s at once', async (_, headers, message) => {
    let numAsked = 0;
    const { url } = await serve((response) => {
      numAsked++;
      response.writeHead(302, headers).end();
    });
    await expect(download(url, path, quick)).rejects.toMatchObject({
      message: expect.stringContaining(message),
      hint: expect.stringContaining('check the address'),
    });
    expect(numAsked).toBeLessThan(30); // 20 are followed; five more tries would be 120
  });

  it('names the address that failed and the one that sent it there, but no signature', async () => {
    const closed = await startServer(() => {});
    await closed.stop();
    const { url } = await serve((response, request) => {
      const location = request.url === '/a' ? '/lost?key=secret' : `${closed.url}/x`;
      if (request.url?.startsWith('/lost')) response.writeHead(404).end();
      else response.writeHead(302, { location }).end();
    });
    const failing = (from: string) => download(`${url}${from}`, path, { ...quick, retries: 0 });
    await expect(failing('/a')).rejects.toThrow(`${url}/lost?… (redirected from ${url}/a): the server answered 404`);
    await expect(failing('/b')).rejects.toThrow(`${closed.url}/x (redirected from ${url}/b): connect ECONNREFUSED`);
  });

  it('reports its bytes', async () => {
    const { url } = await serve((response, request) => serveBytes(response, request, file));
    const told: unknown[] = [];
    const progress = {
      start: (work: object) => told.push(work),
      update: (done: number) => told.push(done),
      stop: () => told.push('stop'),
    };
    await download(url, path, { progress });
    expect(told[0]).toMatchObject({ unit: 'bytes', total: body.length, done: 0 });
    expect(told.slice(-2)).toEqual([body.length, 'stop']);
  });
});

describe('download over a bad connection', () => {
  it('goes on where it broke off, again and again', async () => {
    const local = await serve((response, request, numAsked) => {
      const start = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
      if (numAsked < 4) breakAfter(response, 70_000, { ...file, start });
      else serveBytes(response, request, file);
    });
    // One retry would not be enough: each that brings bytes earns another.
    await download(local.url, path, { ...quick, retries: 1, checksum: sha256 });
    expect(readFileSync(path).equals(body)).toBe(true);
    expect(ranges(local)[0]).toBeUndefined();
    expect(local.asked.slice(1).every(({ headers }) => headers['if-range'] === '"one"')).toBe(true);
    const starts = ranges(local)
      .slice(1)
      .map((range) => Number(/\d+/.exec(range ?? '')?.[0]));
    expect(starts.every((start, i) => start > (starts[i - 1] ?? 0))).toBe(true);
  });

  it('goes on with what an earlier run left', async () => {
    const local = await serve((response, request, numAsked) =>
      numAsked === 1 ? breakAfter(response, 100_000, file) : serveBytes(response, request, file),
    );
    await expect(download(local.url, path, { ...quick, retries: 0 })).rejects.toThrow(DownloadError);
    expect(leftOver().sort()).toEqual(['file.bin.part', 'file.bin.part.json']);
    const kept = readFileSync(`${path}.part`).length;
    expect(kept).toBeGreaterThan(0);
    await download(local.url, path, quick);
    expect(ranges(local)).toEqual([undefined, `bytes=${kept}-`]);
    expect(readFileSync(path).equals(body)).toBe(true);
    expect(leftOver()).toEqual([]);
  });

  it('does not take what a stopped run left for the whole where the server never said how long it is', async () => {
    const stop = new AbortController();
    const { url } = await serve((response, request, numAsked) => {
      if (numAsked > 1) return serveBytes(response, request, file);
      response.writeHead(200, { etag: file.etag }); // in chunks: no length
      response.write(body.subarray(0, 100_000), () => setTimeout(() => stop.abort(), 150));
    });
    await expect(download(url, path, { ...quick, signal: stop.signal })).rejects.toThrow(InterruptedError);
    expect(await download(url, path, quick)).toMatchObject({ sizeBytes: body.length, sha256: sha256.hex });
  });

  it('begins again when the file has changed since', async () => {
    const local = await serve((response, request, numAsked) =>
      numAsked === 1
        ? breakAfter(response, 100_000, file)
        : serveBytes(response, request, { body: other, etag: '"two"' }),
    );
    await download(local.url, path, quick);
    expect(local.asked[1].headers['if-range']).toBe('"one"');
    expect(readFileSync(path).equals(other)).toBe(true);
  });

  it('begins again with a server that knows no ranges', async () => {
    const { url } = await serve((response, _, numAsked) => {
      if (numAsked === 1) breakAfter(response, 100_000, file);
      else response.writeHead(200, { 'content-length': body.length }).end(body);
    });
    await download(url, path, { ...quick, checksum: sha256 });
    expect(readFileSync(path).equals(body)).toBe(true);
  });

  it('begins again where the server gives no validator, or only a weak one', async () => {
    const local = await serve((response, request, numAsked) =>
      numAsked === 1
        ? breakAfter(response, 100_000, { body, etag: 'W/"weak"' })
        : serveBytes(response, request, { body, etag: 'W/"weak"' }),
    );
    await download(local.url, path, { ...quick, checksum: sha256 });
    expect(ranges(local)).toEqual([undefined, undefined]);
  });

  it('goes on by Last-Modified where there is no ETag', async () => {
    const date = 'Wed, 21 Oct 2015 07:28:00 GMT';
    const local = await serve((response, request, numAsked) => {
      if (numAsked > 1) return serveBytes(response, request, { body, etag: date });
      response.writeHead(200, { 'last-modified': date, 'content-length': body.length });
      response.write(body.subarray(0, 100_000), () => setTimeout(() => response.destroy(), 150));
    });
    await download(local.url, path, { ...quick, checksum: sha256 });
    expect(local.asked[1].headers['if-range']).toBe(date);
    expect(local.asked[1].headers.range).toBeDefined();
  });

  it('begins again when the server answers 416, or with another range than asked for', async () => {
    const lies: Answer[] = [
      (response) => response.writeHead(416).end(),
      (response) => response.writeHead(206, { 'content-range': `bytes 0-9/${body.length}` }).end(body.subarray(0, 10)),
      (response) => response.writeHead(206).end(body),
    ];
    for (const lie of lies) {
      const local = await startServer((response, request, numAsked) => {
        if (numAsked === 1) breakAfter(response, 100_000, file);
        else if (request.headers.range) lie(response, request, numAsked);
        else serveBytes(response, request, file);
      });
      rmSync(path, { force: true });
      await download(local.url, path, quick);
      expect(readFileSync(path).equals(body)).toBe(true);
      expect(local.asked).toHaveLength(3);
      await local.stop();
    }
  });

  it('gives up on a server that always breaks off and cannot resume', async () => {
    const local = await serve((response) => breakAfter(response, 50_000, { body, etag: 'none' }));
    await expect(download(local.url, path, { ...quick, retries: 3 })).rejects.toThrow(DownloadError);
    expect(local.asked.length).toBeLessThanOrEqual(8);
  });

  it('does not wait for ever for a silent server, and then goes on', async () => {
    const local = await serve((response, request, numAsked) => {
      if (numAsked === 1) return; // not even a header
      if (numAsked > 2) return serveBytes(response, request, file);
      response.writeHead(200, { etag: '"one"', 'content-length': body.length });
      response.write(body.subarray(0, 100_000)); // and nothing after
    });
    await download(local.url, path, { backoffMs: 1, stallMs: 1000, checksum: sha256 });
    expect(ranges(local)).toEqual([undefined, undefined, 'bytes=100000-']);
  });

  it('throws the bytes of an earlier run away when the whole does not fit, and fetches once more', async () => {
    mkdirSync(join(folder, 'sub'));
    const local = await serve((response, request) => serveBytes(response, request, file));
    const note = { url: local.url, validator: { etag: '"one"' }, totalBytes: body.length, safeBytes: 1000 };
    writeFileSync(`${path}.part`, Buffer.alloc(1000)); // zeros, as after a power cut
    writeFileSync(`${path}.part.json`, JSON.stringify(note));
    await download(local.url, path, { ...quick, checksum: sha256 });
    expect(ranges(local)).toEqual(['bytes=1000-', undefined]);
    expect(readFileSync(path).equals(body)).toBe(true);
  });

  it('counts only the bytes that were noted as safe', async () => {
    mkdirSync(join(folder, 'sub'));
    const local = await serve((response, request) => serveBytes(response, request, file));
    const note = { url: local.url, validator: { etag: '"one"' }, totalBytes: body.length, safeBytes: 1000 };
    writeFileSync(`${path}.part`, Buffer.concat([body.subarray(0, 1000), Buffer.alloc(5000)]));
    writeFileSync(`${path}.part.json`, JSON.stringify(note));
    await download(local.url, path, quick);
    expect(ranges(local)).toEqual(['bytes=1000-']);
    expect(readFileSync(path).equals(body)).toBe(true);
  });

  it('begins again where the note is of another address, damaged or missing', async () => {
    const local = await serve((response, request) => serveBytes(response, request, file));
    const note = { url: 'http://elsewhere', validator: { etag: '"one"' }, totalBytes: 9, safeBytes: 9 };
    mkdirSync(join(folder, 'sub'));
    for (const text of [JSON.stringify(note), '{"url":', undefined]) {
      rmSync(path, { force: true });
      writeFileSync(`${path}.part`, 'nine more');
      if (text) writeFileSync(`${path}.part.json`, text);
      await download(local.url, path, quick);
      expect(readFileSync(path).equals(body)).toBe(true);
    }
    expect(ranges(local)).toEqual([undefined, undefined, undefined]);
  });

  it('takes what a server compresses although asked not to, and does not resume it', async () => {
    const packed = gzipSync(body);
    const local = await serve((response, _, numAsked) => {
      response.writeHead(200, { etag: '"gz"', 'content-encoding': 'gzip', 'content-length': packed.length });
      if (numAsked > 1) response.end(packed);
      else response.write(packed.subarray(0, 200_000), () => setTimeout(() => response.destroy(), 150));
    });
    await download(local.url, path, { ...quick, checksum: sha256 });
    expect(ranges(local)).toEqual([undefined, undefined]);
    expect(readFileSync(path).equals(body)).toBe(true);
  });
});

describe('download that fails', () => {
  const failing = async (status: number, headers: Record<string, string> = {}): Promise<LocalServer> =>
    await serve((response, request, numAsked) =>
      numAsked === 1 ? response.writeHead(status, headers).end('no') : serveBytes(response, request, file),
    );

  it.each([
    [404, /not there/],
    [410, /not there/],
    [401, /login/],
    [403, /login/],
    [400, /address/],
  ])('with %i is not repeated and says what to do', async (status, hint) => {
    const local = await failing(status);
    const expected = {
      code: 'DOWNLOAD',
      message: expect.stringContaining(`${status}`),
      hint: expect.stringMatching(hint),
    };
    await expect(download(local.url, path, quick)).rejects.toMatchObject(expected);
    expect(local.asked).toHaveLength(1);
    expect(existsSync(path)).toBe(false);
  });

  it.each([408, 429, 500, 502, 503])('with %i is repeated', async (status) => {
    const local = await failing(status);
    await download(local.url, path, { ...quick, checksum: sha256 });
    expect(local.asked).toHaveLength(2);
  });

  it('too often gives the last error, after as many retries as allowed', async () => {
    const local = await serve((response) => response.writeHead(503).end());
    const warnings: string[] = [];
    const ignore = (): void => {};
    const logger = { error: ignore, info: ignore, debug: ignore, warn: (text: string) => void warnings.push(text) };
    const expected = { message: expect.stringContaining('503') };
    await expect(download(local.url, path, { ...quick, retries: 2, logger })).rejects.toMatchObject(expected);
    expect(local.asked).toHaveLength(3);
    expect(warnings).toHaveLength(2);
  });

  it('waits as long as Retry-After says', async () => {
    const local = await failing(429, { 'retry-after': '1' });
    const started = performance.now();
    await download(local.url, path, quick);
    expect(performance.now() - started).toBeGreaterThan(950);
  });

  it('on a checksum names both, keeps nothing, and asks once', async () => {
    const local = await serve((response, request) => serveBytes(response, request, { body: other, etag: '"x"' }));
    const message = expect.stringContaining(`expected md5 ${md5.hex}, got `);
    await expect(download(local.url, path, { ...quick, checksum: md5 })).rejects.toMatchObject({ message });
    expect(local.asked).toHaveLength(1);
    expect(existsSync(path)).toBe(false);
    expect(leftOver()).toEqual([]);
  });

  it('on a wrong size does so before it has fetched anything', async () => {
    const local = await serve((response, request) => serveBytes(response, request, file));
    const message = expect.stringContaining(`expected 5 bytes, the server has ${body.length}`);
    await expect(download(local.url, path, { ...quick, sizeBytes: 5 })).rejects.toMatchObject({ message });
  });

  it('on a file that is longer than it may be stops, though the server does not say how long it is', async () => {
    const local = await serve((response) => {
      const send = (): void => {
        if (!response.destroyed) response.write(body, send);
      };
      response.writeHead(200, { etag: '"endless"' });
      send();
    });
    const message = `expected ${body.length} bytes, the server sends more`;
    await expect(download(local.url, path, { ...quick, sizeBytes: body.length })).rejects.toThrow(message);
    expect(local.asked).toHaveLength(1);
    expect(leftOver()).toEqual([]);
  });

  it('on a wrong size keeps what an earlier run left', async () => {
    const local = await serve((response, request, numAsked) => {
      if (numAsked === 1) breakAfter(response, 100_000, file);
      else if (numAsked === 2) response.writeHead(200, { 'content-length': 13 }).end('<html></html>');
      else serveBytes(response, request, file);
    });
    const options = { ...quick, retries: 0, sizeBytes: body.length };
    await expect(download(local.url, path, options)).rejects.toThrow(DownloadError);
    await expect(download(local.url, path, options)).rejects.toThrow(/the server has 13/);
    await download(local.url, path, options);
    expect(ranges(local)).toEqual([undefined, 'bytes=100000-', 'bytes=100000-']);
  });

  it('for want of disk space says so before it has fetched anything', async () => {
    const local = await serve((response) => {
      response.writeHead(200, { 'content-length': 2 ** 52 });
      response.write('x');
    });
    const expected = { code: 'DOWNLOAD', hint: expect.stringContaining('disk space') };
    await expect(download(local.url, path, quick)).rejects.toMatchObject(expected);
  });

  it('for want of a server says where the fault may be, after a single retry if the name is unknown', async () => {
    let numAsked = 0;
    const offline: typeof fetch = async () => {
      numAsked++;
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' }) });
    };
    const expected = { code: 'DOWNLOAD', hint: expect.stringMatching(/online.*HTTPS_PROXY/) };
    await expect(download('https://nowhere.invalid/a', path, { ...quick, fetch: offline })).rejects.toMatchObject(
      expected,
    );
    expect(numAsked).toBe(2);
    const local = await startServer(() => {});
    await local.stop();
    const refused = { code: 'DOWNLOAD', message: expect.stringContaining('ECONNREFUSED') };
    await expect(download(local.url, path, { ...quick, retries: 1 })).rejects.toMatchObject(refused);
  });

  it('to write is an OutputError that names the place', async () => {
    writeFileSync(join(folder, 'sub'), 'a file where a folder should be');
    await expect(download('http://127.0.0.1:1/', path)).rejects.toThrow(OutputError);
  });

  it.runIf(existsSync('/proc/self/fd'))('to go on with what is there leaves no file open', async () => {
    mkdirSync(`${path}.part.json`, { recursive: true }); // a folder where the note should be
    await expect(download('http://127.0.0.1:1/', path)).rejects.toThrow(OutputError);
    expect(openFiles()).not.toContain(`${path}.part`);
  });

  it('by an interrupt keeps what came, also while it pauses', async () => {
    const local = await serve((response, request, numAsked) => {
      if (numAsked > 1) return serveBytes(response, request, file);
      response.writeHead(200, { etag: '"one"', 'content-length': body.length });
      response.write(body.subarray(0, 100_000));
    });
    const stop = new AbortController();
    const progress = { start: () => {}, stop: () => {}, update: (done: number) => done === 100_000 && stop.abort() };
    await expect(download(local.url, path, { signal: stop.signal, progress })).rejects.toThrow(InterruptedError);
    await download(local.url, path, { checksum: sha256 });
    expect(ranges(local)).toEqual([undefined, 'bytes=100000-']);

    const failing = await startServer((response) => response.writeHead(503).end());
    const pausing = download(failing.url, join(folder, 'b'), { signal: AbortSignal.timeout(50), backoffMs: 60_000 });
    await expect(pausing).rejects.toThrow(InterruptedError);
    await failing.stop();
  });
});

describe('several downloads of one file', () => {
  it('ask once', async () => {
    const local = await serve((response, request) => serveBytes(response, request, file));
    const results = await Promise.all([1, 2, 3].map(() => download(local.url, path, { checksum: sha256 })));
    expect(local.asked).toHaveLength(1);
    expect(results.map(({ wasThere }) => wasThere).sort()).toEqual([false, true, true]);
    expect(leftOver()).toEqual([]);
  });
});
