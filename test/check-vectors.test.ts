/** Other programs held against our test vectors, where LZERO_PYTHON names a Python with sentence-transformers. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatTestVectors, type TestVectors, testVectorsOf } from '../src/model/index.ts';
import { changeJson } from './golden/check/fixtures.ts';
import { pythonWith } from './lib/python.ts';

const { python, why } = pythonWith('sentence_transformers');
/** For what happens before any package is needed. */
const anyPython = pythonWith('json');
const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lzero-vectors-'));
  await cp(join(ROOT, 'test/golden/models/st-router'), model(), { recursive: true });
  // Else it would cut one of the queries, which lzero reads whole.
  changeJson(join(model(), 'query_0_SparseStaticEmbedding'), 'tokenizer_config.json', { model_max_length: 512 });
});
afterAll(() => rm(folder, { recursive: true }));

const model = () => join(folder, 'model');
const checkVectors = (...argv: string[]) =>
  run(python ?? anyPython.python ?? '', [join(ROOT, 'scripts/check-vectors.py'), ...argv]);

async function write(vectors: TestVectors): Promise<string> {
  const path = join(folder, 'vectors.json');
  await writeFile(path, formatTestVectors(vectors));
  return path;
}

describe.skipIf(!python)(`test vectors${why}`, () => {
  it('of the embedded model come out of tokenizers and idf.json as well', async () => {
    const { stdout } = await checkVectors(join(ROOT, 'test/golden/check/bow.json'), '--bow', join(ROOT, 'models/bow'));
    expect(stdout).toMatch(/^47 texts and 540 scores agree/);
  }, 60_000);

  it('of a SparseEncoder come out of sentence-transformers within 1e-4', async () => {
    const { stdout } = await checkVectors(await write(await testVectorsOf(model())), model());
    expect(stdout).toMatch(/^28 texts and 196 scores agree/);
  }, 120_000);

  it('of another model do not', async () => {
    const vectors = await testVectorsOf(model());
    const pairs = vectors.pairs.map((pair) => ({ ...pair, score: pair.score + 1 }));
    await expect(checkVectors(await write({ ...vectors, pairs }), model())).rejects.toThrow();
  }, 120_000);
});

describe.skipIf(!anyPython.python)(`scripts/check-vectors.py${anyPython.why}`, () => {
  it('refuses a file without texts', async () => {
    const path = join(folder, 'empty.json');
    await writeFile(path, JSON.stringify({ schemaVersion: 1, texts: [], pairs: [] }));
    await expect(checkVectors(path, '--bow', 'models/bow')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('holds no texts'),
    });
  });

  it('shows how to call it where no file is named', async () => {
    await expect(checkVectors()).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Holds another implementation/),
    });
  });
});
