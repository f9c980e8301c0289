import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HubModel, type HubTricks, hubOf, refuse, serveFile } from '../../../test/http/local-hub.ts';
import { type Answer, breakAfter, type LocalServer, startServer } from '../../../test/http/local-server.ts';
import { InterruptedError, Random } from '../../core/index.ts';
import { GraphBuilder, toOnnx } from '../../graph/index.ts';
import { type PulledModel, type PullOptions, pullModel } from './pull-model.ts';
import { resolveModel } from './resolve-model.ts';

const random = new Random(11);
const bytes = (length: number): Buffer => Buffer.from(Uint8Array.from({ length }, () => 256 * random.uniform()));
const weights = bytes(300_000);
const commit = '1234567890abcdef1234567890abcdef12345678';
const model: HubModel = {
  id: 'ocean/tiny-splade',
  commit,
  files: {
    'README.md': Buffer.from('# A model\n'),
    'config.json': Buffer.from('{"model_type": "bert"}'),
    'vocab.txt': Buffer.from('[PAD]\n[UNK]\n'),
    'model.safetensors': weights,
    'pytorch_model.bin': bytes(1000),
  },
  large: ['model.safetensors', 'pytorch_model.bin'],
  tags: ['v1.0'],
};
const NEEDED = ['config.json', 'model.safetensors', 'vocab.txt'];
const SECRET = 'hf_verysecret';

let cache: string;
let servers: LocalServer[] = [];

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'lzero-hub-'));
});
afterEach(async () => {
  for (const server of servers) await server.stop();
  servers = [];
  rmSync(cache, { recursive: true });
});

async function serve(answer: Answer): Promise<LocalServer> {
  const server = await startServer(answer);
  servers.push(server);
  return server;
}

const serveModel = (tricks: HubTricks = {}, served = model): Promise<LocalServer> => serve(hubOf(served, tricks));

type Changes = Partial<Omit<PullOptions, 'hub'>> & { readonly token?: string; readonly isOffline?: boolean };

function pull({ url }: Pick<LocalServer, 'url'>, changes: Changes = {}, name = model.id): Promise<PulledModel> {
  const { token, isOffline = false, ...others } = changes;
  const hub = { endpoint: url, token, isOffline };
  return pullModel(name, { cache, hub, backoffMs: 1, stallMs: 2000, ...others });
}

const home = (): string => join(cache, 'models/ocean--tiny-splade');
const inCache = (): string[] => (existsSync(home()) ? readdirSync(home(), { recursive: true }).map(String).sort() : []);
const pathsAsked = ({ asked }: LocalServer): string[] => asked.map(({ path }) => path.split('/').at(-1) ?? '');
const rangesOf = ({ asked }: LocalServer, file: string) =>
  asked.filter(({ path }) => path.endsWith(file)).map(({ headers }) => headers.range);

describe('pulling a model', () => {
  it('brings the files it needs, whole, under its commit, and leaves nothing else', async () => {
    const hub = await serveModel();
    const pulled = await pull(hub);
    expect(pulled).toMatchObject({ id: model.id, revision: 'main', commit, wasThere: false });
    expect(pulled.files.map(({ path }) => path)).toEqual(NEEDED);
    expect(inCache()).toEqual(
      [commit, `${commit}.json`, 'refs', 'refs/main', ...NEEDED.map((path) => `${commit}/${path}`)].sort(),
    );
    expect(readFileSync(join(pulled.folder, 'model.safetensors')).equals(weights)).toBe(true);
    expect(pathsAsked(hub)).toEqual(['main?blobs=true', ...NEEDED]);
  });

  it('is found by its name, its tag and its commit, as a folder', async () => {
    await pull(await serveModel(), {}, `${model.id}@v1.0`);
    const folder = join(home(), commit);
    for (const revision of ['v1.0', commit])
      expect(await resolveModel(`${model.id}@${revision}`, cache)).toEqual({ folder, name: `${model.id}@${commit}` });
    const expected = { code: 'CHECKPOINT', hint: 'fetch it first: lzero model pull ocean/tiny-splade' };
    await expect(resolveModel(model.id, cache)).rejects.toMatchObject(expected);
    await expect(resolveModel(model.id, cache)).rejects.toThrow(/the cache has ocean\/tiny-splade@v1\.0/);
  });

  it('asks once more only whether the revision has moved; of a commit nobody at all', async () => {
    const hub = await serveModel();
    await pull(hub);
    expect(await pull(hub)).toMatchObject({ wasThere: true, commit });
    expect(pathsAsked(hub).slice(4)).toEqual(['main?blobs=true']);
    expect(await pull(hub, {}, `${model.id}@${commit}`)).toMatchObject({ wasThere: true });
    expect(hub.asked).toHaveLength(5);
  });

  it('follows a branch that has moved, and keeps what it was at', async () => {
    await pull(await serveModel());
    const moved = 'f'.repeat(40);
    const later = await pull(await serveModel({}, { ...model, commit: moved }));
    expect(later).toMatchObject({ commit: moved, wasThere: false });
    expect((await resolveModel(model.id, cache)).folder).toBe(join(home(), moved));
    expect((await resolveModel(`${model.id}@${commit}`, cache)).folder).toBe(join(home(), commit));
  });

  it('by two at once fetches once', async () => {
    const hub = await serveModel();
    const [a, b] = await Promise.all([pull(hub), pull(hub)]);
    expect([a.folder, a.files]).toEqual([b.folder, b.files]);
    expect(
      pathsAsked(hub)
        .filter((path) => !path.startsWith('main'))
        .sort(),
    ).toEqual(NEEDED);
  });

  it('tells its progress over all files together', async () => {
    const hub = await serveModel();
    const told: unknown[] = [];
    const progress = {
      start: (work: object) => told.push(work),
      update: (done: number) => told.push(done),
      stop: () => told.push('stop'),
    };
    await pull(hub, { progress });
    const total = NEEDED.reduce((sum, path) => sum + model.files[path].length, 0);
    expect(told[0]).toEqual({ label: 'downloading ocean/tiny-splade', unit: 'bytes', total, done: 0 });
    expect(told.slice(-2)).toEqual([total, 'stop']);
    const updates = told.slice(1, -1).map(Number);
    expect(updates.every((done, i) => done >= (updates[i - 1] ?? 0))).toBe(true);
  });

  it('fetches the modules that modules.json names', async () => {
    const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
    const files = {
      'modules.json': json([{ path: '', type: 'sentence_transformers.models.Router' }]),
      'router_config.json': json({ types: { query_0_Static: 'x', document_0_MLM: 'y' } }),
      'query_0_Static/model.safetensors': bytes(100),
      'document_0_MLM/model.safetensors': bytes(200),
      'document_0_MLM/config.json': json({}),
      'other/model.safetensors': bytes(300),
    };
    const { folder } = await pull(await serveModel({}, { ...model, files, large: [] }));
    const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(found).toHaveLength(5);
    expect(readFileSync(join(folder, 'document_0_MLM/model.safetensors'))).toHaveLength(200);
  });

  it('fetches the table of query weights that a module names, under whatever name', async () => {
    const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
    const embedding = 'sentence_transformers.sparse_encoder.models.SparseStaticEmbedding';
    const files = {
      'modules.json': json([{ path: '', type: 'sentence_transformers.models.Router' }]),
      'router_config.json': json({ types: { query_0_Static: embedding, document_0_MLM: 'y' } }),
      'query_0_Static/config.json': json({ path: 'token_weights.json', frozen: true }),
      'query_0_Static/token_weights.json': json({ river: 2 }),
      'document_0_MLM/model.safetensors': bytes(200),
      'token_weights.json': json({ river: 3 }), // not asked for: the module has one of its own
    };
    const { folder } = await pull(await serveModel({}, { ...model, files, large: [] }));
    expect(readFileSync(join(folder, 'query_0_Static/token_weights.json'), 'utf8')).toBe('{"river":2}');
    expect(readdirSync(folder)).not.toContain('token_weights.json');
  });
});

describe('pulling an ONNX model', () => {
  /** A graph that has a constant in each of these files. */
  function graph(...locations: readonly string[]): Buffer {
    const g = new GraphBuilder('g');
    locations.forEach((location, i) => {
      const w = g.constant(`w${i}`, { dtype: 'float32', shape: [1] }, { location, offset: 0, length: 4 });
      g.output(`y${i}`, g.node('Identity', [w], w));
    });
    return Buffer.from(toOnnx(g));
  }
  const onnxModel = (onnx: Buffer): HubModel => ({
    ...model,
    files: {
      'config.json': Buffer.from('{}'),
      'onnx/model.onnx': onnx,
      'onnx/weights.bin': bytes(70),
      'onnx/model.onnx_data': bytes(50),
    },
    large: ['onnx/model.onnx', 'onnx/weights.bin'],
  });

  it('brings the files that it names, and no others', async () => {
    const pulled = await pull(await serveModel({}, onnxModel(graph('weights.bin', 'weights.bin'))));
    expect(pulled.files.map(({ path }) => path)).toEqual(['config.json', 'onnx/model.onnx', 'onnx/weights.bin']);
    expect(readFileSync(join(pulled.folder, 'onnx/weights.bin'))).toHaveLength(70);
  });

  it.each([
    ['one that the repository does not have', 'lost.bin', /weights in "lost\.bin", which the repository does not have/],
    ['one outside of its folder', '../config.json', /expected the name of a file beside it/],
  ])('is refused where it names %s', async (_, location, message) => {
    const hub = await serveModel({}, onnxModel(graph(location)));
    await expect(pull(hub)).rejects.toThrow(message);
    expect(inCache()).not.toContain(commit);
  });
});

describe('pulling over a bad connection', () => {
  it('goes on where it broke off, in the same call and in the next', async () => {
    const hub = await serveModel({
      file: (response, request, file) => {
        const start = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
        if (file.path === 'model.safetensors' && file.numAsked < 4) breakAfter(response, 70_000, { ...file, start });
        else serveFile(response, request, file);
      },
    });
    await expect(pull(hub, { retries: 0 })).rejects.toMatchObject({ code: 'DOWNLOAD' });
    expect(inCache()).not.toContain(commit);
    expect((await pull(hub)).wasThere).toBe(false);
    const starts = rangesOf(hub, 'model.safetensors').map((range) => Number(/\d+/.exec(range ?? '0')?.[0]));
    expect(starts).toHaveLength(4);
    expect(starts.every((start, i) => i === 0 || start > starts[i - 1])).toBe(true);
    expect(rangesOf(hub, 'config.json')).toHaveLength(1); // was there
    expect(readFileSync(join(home(), commit, 'model.safetensors')).equals(weights)).toBe(true);
  });

  it('waits as long as Retry-After says, for the listing and for a file', async () => {
    const usual = hubOf(model);
    const numAsked = new Map<string, number>();
    const hub = await serve((response, request, number) => {
      const path = request.url ?? '';
      numAsked.set(path, (numAsked.get(path) ?? 0) + 1);
      const isFirst = numAsked.get(path) === 1 && /main|vocab/.test(path);
      if (isFirst) response.writeHead(429, { 'retry-after': '1' }).end();
      else usual(response, request, number);
    });
    const began = performance.now();
    await pull(hub);
    expect(performance.now() - began).toBeGreaterThan(1900);
  });

  it('gives a silent server up and asks again', async () => {
    const hub = await serveModel({
      file: (response, request, file) => {
        if (file.path !== 'model.safetensors' || file.numAsked > 1) return serveFile(response, request, file);
        response.writeHead(200, { etag: file.etag, 'content-length': file.body.length });
        response.write(file.body.subarray(0, 100_000)); // and nothing after
      },
    });
    await pull(hub, { stallMs: 1000 });
    expect(rangesOf(hub, 'model.safetensors')).toEqual([undefined, 'bytes=100000-']);
  });

  it('interrupted says how to go on, and goes on', async () => {
    const hub = await serveModel({
      file: (response, request, file) => {
        if (file.path !== 'model.safetensors' || file.numAsked > 1) return serveFile(response, request, file);
        response.writeHead(200, { etag: file.etag, 'content-length': file.body.length });
        response.write(file.body.subarray(0, 100_000));
      },
    });
    const stop = new AbortController();
    const progress = { start: () => {}, stop: () => {}, update: (done: number) => done >= 100_000 && stop.abort() };
    const interrupted = pull(hub, { signal: stop.signal, progress });
    await expect(interrupted).rejects.toThrow(InterruptedError);
    await expect(interrupted).rejects.toMatchObject({ hint: expect.stringContaining('lzero model pull ocean/tiny') });
    const told: { readonly done?: number | undefined }[] = [];
    await pull(hub, { progress: { start: (work) => told.push(work), update: () => {}, stop: () => {} } });
    expect(told[0].done).toBeGreaterThanOrEqual(100_000); // what was there counts from the beginning
    expect(rangesOf(hub, 'model.safetensors')).toEqual([undefined, 'bytes=100000-']);
  });
});

describe('pulling from another host', () => {
  it('that the hub refers to sends it no token', async () => {
    const store = await serveModel();
    const hub = await serveModel({
      file: (response, request) => {
        const elsewhere = store.url.replace('127.0.0.1', 'localhost');
        response.writeHead(302, { location: `${elsewhere}${request.url}` }).end();
      },
    });
    await pull(hub, { token: SECRET });
    expect(hub.asked.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill(`Bearer ${SECRET}`));
    expect(store.asked).toHaveLength(3);
    expect(store.asked.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined]);
  });

  it('resumes there', async () => {
    const store = await serveModel({
      file: (response, request, file) =>
        file.path === 'model.safetensors' && file.numAsked === 1
          ? breakAfter(response, 100_000, file)
          : serveFile(response, request, file),
    });
    const hub = await serveModel({
      file: (response, request) => response.writeHead(302, { location: `${store.url}${request.url}` }).end(),
    });
    await pull(hub);
    expect(rangesOf(store, 'model.safetensors')[1]).toMatch(/^bytes=\d+-$/);
    expect(readFileSync(join(home(), commit, 'model.safetensors')).equals(weights)).toBe(true);
  });
});

describe('a hub that lies', () => {
  const lying = (path: string, answer: NonNullable<HubTricks['file']>): Promise<LocalServer> =>
    serveModel({
      file: (response, request, file) =>
        file.path === path ? answer(response, request, file) : serveFile(response, request, file),
    });

  /** Fails as expected, and leaves no model behind. */
  async function expectRefusal(hub: LocalServer, message: RegExp, changes: Changes = {}): Promise<void> {
    await expect(pull(hub, { retries: 1, ...changes })).rejects.toMatchObject({ code: 'DOWNLOAD' });
    await expect(pull(hub, { retries: 1, ...changes })).rejects.toThrow(message);
    expect(inCache()).not.toContain(commit);
    expect(inCache().filter((name) => name.startsWith('refs'))).toEqual([]);
    const files = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(existsSync(home())).toBe(files.length > 0); // no folder stays for nothing
  }

  it('in the bytes of a large file is found out by SHA-256', async () => {
    const other = bytes(weights.length);
    const hub = await lying('model.safetensors', (response, request, file) =>
      serveFile(response, request, { ...file, body: other }),
    );
    await expectRefusal(hub, /expected sha256 [0-9a-f]{64}, got/);
  });

  it("in the bytes of a small file is found out by git's checksum", async () => {
    const hub = await lying('config.json', (response, request, file) =>
      serveFile(response, request, { ...file, body: Buffer.from('{"model_type": "tert"}') }),
    );
    await expectRefusal(hub, /expected git-blob [0-9a-f]{40}, got/);
  });

  it.each([10, 400_000])('of a length of %i bytes is refused before anything is fetched', async (length) => {
    const hub = await lying('model.safetensors', (response) => {
      response.writeHead(200, { 'content-length': length });
      response.write('page');
    });
    await expectRefusal(hub, /expected 300000 bytes, the server has/);
  });

  it('by sending without end is stopped', async () => {
    const hub = await lying('vocab.txt', (response) => {
      const send = (): void => {
        if (!response.destroyed) response.write('x'.repeat(1000), send);
      };
      response.writeHead(200);
      send();
    });
    await expectRefusal(hub, /expected 12 bytes, the server sends more/);
  });

  it('with a page in place of the listing is asked whether it is a hub', async () => {
    const hub = await serve((response) => response.writeHead(200).end('<html>Please log in</html>'));
    await expect(pull(hub)).rejects.toMatchObject({ hint: expect.stringContaining('is this the address of a hub?') });
  });

  it('by telling no checksum is refused', async () => {
    const hub = await serveModel({
      listing: (usual) => ({ ...usual, siblings: usual.siblings.map(({ rfilename, size }) => ({ rfilename, size })) }),
    });
    await expectRefusal(hub, /gives no checksum of config\.json/);
  });

  it.each(['modules.json', 'lzero.json'])('with a %s of gigabytes is refused before it is fetched', async (file) => {
    const hub = await serveModel({
      listing: (usual) => ({
        ...usual,
        siblings: [...usual.siblings, { rfilename: file, lfs: { sha256: 'a'.repeat(64), size: 3 * 2 ** 30 } }],
      }),
    });
    await expectRefusal(hub, new RegExp(`${file} has 3221225472 bytes, at most 8388608 are expected`));
    expect(pathsAsked(hub).filter((path) => path === file)).toEqual([]);
  });

  it('about sizes beyond the disk is refused before anything is fetched', async () => {
    const large = (usual: { siblings: { rfilename: string }[] }) => ({
      ...usual,
      siblings: usual.siblings.map((file) =>
        file.rfilename === 'model.safetensors' ? { ...file, lfs: { sha256: 'a'.repeat(64), size: 2 ** 50 } } : file,
      ),
    });
    const hub = await serveModel({ listing: large });
    await expect(pull(hub)).rejects.toMatchObject({ hint: expect.stringContaining('free some disk space') });
    expect(pathsAsked(hub)).toEqual(['main?blobs=true']);
  });
});

describe('a hub that refuses', () => {
  /** Refuses the listing, as the hub does, and everything else. */
  const refusing = (status: number, code = ''): Promise<LocalServer> =>
    serve((response) => refuse(response, status, code));

  it.each([
    [401, 'GatedRepo', undefined, /is gated/, /accept the terms at .*\/ocean\/tiny-splade, make a token .* HF_TOKEN/],
    [403, 'GatedRepo', SECRET, /is gated/, /accept the terms .* with the account of HF_TOKEN/],
    [403, '', SECRET, /does not give ocean\/tiny-splade to this account/, /accept the terms/],
    [401, 'RepoNotFound', undefined, /nobody without a login/, /check the name.*set HF_TOKEN/],
    [401, '', SECRET, /does not accept the token in HF_TOKEN/, /make a new one .*, or unset HF_TOKEN/],
    [404, 'RepoNotFound', undefined, /there is no model ocean\/tiny-splade/, /check the name/],
    [404, '', undefined, /there is no model ocean\/tiny-splade/, /check the name/],
    [500, '', undefined, /answered 500/, /try again later/],
  ])('with %i %s says why and what to do, and shows no token', async (status, code, token, message, hint) => {
    const hub = await refusing(status, code);
    const refused = pull(hub, token === undefined ? {} : { token });
    await expect(refused).rejects.toMatchObject({
      code: 'DOWNLOAD',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
    const error: unknown = await refused.catch((reason: unknown) => reason);
    expect(`${error} ${JSON.stringify(error)} ${error instanceof Error ? error.stack : ''}`).not.toContain(SECRET);
  });

  it.each([
    ['itself', undefined],
    ['behind a redirect of the same host', '/cdn/'],
  ])('a file that it has listed, %s, names that file and not the model', async (_, elsewhere) => {
    const usual = hubOf(model, {
      file: (response, { url = '' }) =>
        elsewhere
          ? response.writeHead(302, { location: url.replace(/.*\//, elsewhere) }).end()
          : refuse(response, 404, 'EntryNotFound'),
    });
    const hub = await serve((response, request, n) =>
      request.url?.startsWith('/cdn/') ? refuse(response, 404, '') : usual(response, request, n),
    );
    const address = elsewhere
      ? `${hub.url}/cdn/config.json (redirected from `
      : `${hub.url}/ocean/tiny-splade/resolve/`;
    await expect(pull(hub)).rejects.toMatchObject({
      message: expect.stringMatching(`^${address.replace('(', '\\(')}.*/config.json\\)?: the server answered 404`),
      hint: expect.stringContaining('the file is not there'),
    });
    expect(readdirSync(join(cache, 'models'))).toEqual([]);
  });

  it('the files of a gated model, but not its listing, says so too', async () => {
    const hub = await serveModel({ file: (response) => refuse(response, 401, 'GatedRepo') });
    await expect(pull(hub)).rejects.toThrow(/ocean\/tiny-splade is gated/);
  });

  it.each([
    ['ocean/tiny-spalde', /there is no model/, 'did you mean ocean/tiny-splade?'],
    ['ocean/quite-another', /there is no model/, 'the hub has ocean/tiny-splade'],
    ['ocean/tiny-splade@v1.1', /has no revision v1\.1/, 'did you mean v1.0?'],
    ['ocean/tiny-splade@experiment', /has no revision experiment/, 'it has main, v1.0'],
  ])('%s for a mistake says what was meant', async (name, message, hint) => {
    const hub = await serveModel();
    await expect(pull(hub, {}, name)).rejects.toMatchObject({
      message: expect.stringMatching(message),
      hint: expect.stringContaining(hint),
    });
  });

  it.each(['splade', '../x/y', 'o/n@..'])('is not even asked for %j', async (name) => {
    const hub = await serveModel();
    await expect(pull(hub, {}, name)).rejects.toMatchObject({ code: 'USAGE' });
    expect(hub.asked).toEqual([]);
  });
});

describe('without a network', () => {
  const nowhere = async (): Promise<LocalServer> => {
    const server = await startServer(() => {});
    await server.stop();
    return server;
  };

  it('says how the files can be brought by hand', async () => {
    const closed = pull(await nowhere(), { retries: 0 });
    await expect(closed).rejects.toMatchObject({
      code: 'DOWNLOAD',
      message: expect.stringContaining('ECONNREFUSED'),
      hint: expect.stringMatching(/copy .*ocean--tiny-splade .*or put the files of http.*\/tree\/main into a folder/),
    });
  });

  it('points to what the cache has', async () => {
    await pull(await serveModel());
    await expect(pull(await nowhere(), { retries: 0 })).rejects.toMatchObject({
      hint: expect.stringContaining(`the cache has commit ${commit}: take it with --offline`),
    });
  });

  it('offline takes what is there, and asks nobody for what is not', async () => {
    const hub = await serveModel();
    const expected = { code: 'DOWNLOAD', hint: expect.stringContaining('leave out --offline') };
    await expect(pull(hub, { isOffline: true })).rejects.toMatchObject(expected);
    expect(hub.asked).toEqual([]);
    await pull(hub);
    expect(await pull(hub, { isOffline: true })).toMatchObject({ commit, wasThere: true });
    expect(hub.asked).toHaveLength(4);
  });

  it('a cache that was copied works as it is', async () => {
    await pull(await serveModel());
    rmSync(join(home(), `${commit}.json`)); // whoever copies by hand may forget it
    expect((await resolveModel(model.id, cache)).folder).toBe(join(home(), commit));
    expect(await pull(await nowhere(), { isOffline: true })).toMatchObject({ wasThere: true, files: [] });
  });
});

describe('a model that was damaged in the cache', () => {
  const file = (): string => join(home(), commit, 'model.safetensors');

  it('by a file cut short is not loaded, and is mended by the next pull, that file alone', async () => {
    const hub = await serveModel();
    await pull(hub);
    writeFileSync(file(), weights.subarray(0, 1000));
    await expect(resolveModel(model.id, cache)).rejects.toThrow(/model\.safetensors has 1000 bytes, expected 300000/);
    await expect(pull(hub, { isOffline: true })).rejects.toThrow(/damaged in the cache/);
    expect(await pull(hub)).toMatchObject({ wasThere: false });
    expect(readFileSync(file()).equals(weights)).toBe(true);
    expect(pathsAsked(hub).slice(4)).toEqual(['main?blobs=true', 'model.safetensors']);
  });

  it('by other bytes of the same length is mended with --force', async () => {
    const hub = await serveModel();
    await pull(hub);
    writeFileSync(file(), Buffer.alloc(weights.length));
    expect(await pull(hub)).toMatchObject({ wasThere: true });
    expect(await pull(hub, { force: true })).toMatchObject({ wasThere: false });
    expect(readFileSync(file()).equals(weights)).toBe(true);
    expect(rangesOf(hub, 'config.json')).toHaveLength(1); // it was as it should be
  });
});
