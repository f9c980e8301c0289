/**
 * sentence-transformers and we, both ways: it loads what we write, we load what it writes, and both give the same vectors
 * and scores. Needs LZERO_PYTHON, a Python with sentence-transformers and onnxruntime; for its ONNX backend
 * LZERO_PYTHON_ONNX, one with sentence-transformers and optimum (test/python/sparse_encoder.py).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SparseVector } from '../src/core/index.ts';
import { type ConvertOptions, convertModel, type LoadOptions, loadModel, type Model } from '../src/model/index.ts';
import { encodeAll, golden, goldenFolder, needs, realWeights } from './golden/model/fixtures.ts';
import { writeTiedHeadModel } from './lib/convert-models.ts';
import { pythonWith } from './lib/python.ts';

const ROOT = resolve(import.meta.dirname, '..');
const MODELS = join(ROOT, 'test/golden/models');
/** Python takes a while to start, once a group of tests. */
const PATIENCE_MS = 600_000;
const { python, why } = pythonWith('sentence_transformers', 'onnxruntime');
const pythonOnnx = process.env.LZERO_PYTHON_ONNX;
const whyOnnx = pythonOnnx ? '' : ' (skipped: LZERO_PYTHON_ONNX does not name a Python with optimum)';

const vectors = z.array(z.record(z.string(), z.number()));
const encodedSchema = z.object({ queries: vectors, documents: vectors, scores: z.array(z.array(z.number())) });
const weightsSchema = z.object({ weights: vectors });

/** Asks the other side, all at once. */
function ask(requests: readonly Readonly<Record<string, unknown>>[], interpreter = python): unknown[] {
  const { status, stdout, stderr } = spawnSync(interpreter ?? '', ['test/python/sparse_encoder.py'], {
    cwd: ROOT,
    input: JSON.stringify(requests),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new Error(`the Python side failed: ${stderr}`);
  return z.array(z.unknown()).parse(JSON.parse(stdout));
}

type Texts = { readonly queries: readonly string[]; readonly documents: readonly string[] };
type Vector = Readonly<Record<string, number>>;
type Encoded = z.infer<typeof encodedSchema>;

/** What we make of the same texts. */
async function ours(folder: string, options: LoadOptions, texts: Texts): Promise<Encoded> {
  const model = await loadModel(folder, options);
  const documents = (await encodeAll(model, texts.documents)).map(({ vector }) => vectorOf(vector));
  const queries = (await encodedQueries(model, texts.queries)).map(vectorOf);
  await model.close();
  return { queries, documents, scores: queries.map((query) => documents.map((document) => dot(query, document))) };
}

/** Queries as the model is meant to be asked: by its network if it is Siamese, else by its table. */
async function encodedQueries(model: Model, queries: readonly string[]): Promise<SparseVector[]> {
  if (!isSiamese(model)) return queries.map((query) => model.encodeQuery(query).vector);
  const vectors: SparseVector[] = [];
  for await (const { vector } of model.encodeQueries(queries)) vectors.push(vector);
  return vectors;
}

function isSiamese({ settings }: Model): boolean {
  return settings.kind !== 'bow' && settings.queries === 'encoded';
}

function vectorOf({ terms, weights }: SparseVector): Vector {
  return Object.fromEntries(Array.from(terms, (term, i) => [String(term), weights[i]]));
}

function dot(a: Vector, b: Vector): number {
  return Object.entries(a).reduce((sum, [term, weight]) => sum + weight * (b[term] ?? 0), 0);
}

/** Largest difference of any weight. */
function differenceOf(a: readonly Vector[], b: readonly Vector[]): number {
  expect(a.length).toBe(b.length);
  const each = a.map((x, i) => {
    const terms = new Set([...Object.keys(x), ...Object.keys(b[i])]);
    return Math.max(0, ...Array.from(terms, (term) => Math.abs((x[term] ?? 0) - (b[i][term] ?? 0))));
  });
  return Math.max(...each);
}

/** Holds both sides to each other: weights that are looked up within 1e-6, those of a network and scores within 1e-4. */
function expectSame(theirs: Encoded, own: Encoded, { isSiamese = false } = {}): void {
  const byPlace = ({ scores }: Encoded) => scores.map((row) => Object.fromEntries(row.entries()));
  const differences = {
    queries: differenceOf(theirs.queries, own.queries),
    documents: differenceOf(theirs.documents, own.documents),
    scores: differenceOf(byPlace(theirs), byPlace(own)),
  };
  if (process.env.LZERO_SHOW_DIFFERENCES) console.log(expect.getState().currentTestName, differences);
  expect(Math.max(...own.scores.flat())).toBeGreaterThan(0.1);
  expect(differences.queries).toBeLessThan(isSiamese ? 1e-4 : 1e-6);
  expect(differences.documents).toBeLessThan(1e-4);
  expect(differences.scores).toBeLessThan(1e-4);
}

const GOLDEN: Texts = {
  documents: golden.texts,
  queries: ['the river', 'a quick bird sings on the old bridge', 'zzyzx 水山 [MASK] lamp lamp', golden.texts[9]],
};

let scratch: string;
let numFolders = 0;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lzero-st-'));
});
afterAll(() => rmSync(scratch, { recursive: true }));
const newFolder = () => join(scratch, String(numFolders++));

/** One model that we write: what it is, how it is written, and what is encoded with it. */
type Case = readonly [name: string, texts: Texts, options: Omit<ConvertOptions, 'output'>];

const named = (cases: readonly Case[]) => cases.map(([name], i): [string, number] => [name, i]);

/** Texts of a batch of the other side. In int8 the range of a batch decides its codes: one text each, as here. */
const batchOf = ({ precision }: Pick<ConvertOptions, 'precision'>) => (precision === 'int8' ? 1 : 8);

/** Writes all models, and asks the other side for their vectors. */
async function askForAll(cases: readonly Case[], backend: string, interpreter: string | undefined): Promise<Encoded[]> {
  const requests: Record<string, unknown>[] = [];
  for (const [, texts, options] of cases) {
    const folder = newFolder();
    await convertModel({ ...options, output: folder });
    requests.push({ action: 'encode', folder, backend, batch: batchOf(options), ...texts });
  }
  return z.array(encodedSchema).parse(ask(requests, interpreter));
}

/** The source of a case, read by us. */
function ownSide([, texts, { source, activation, idf, encodeLength, precision }]: Case): Promise<Encoded> {
  return ours(source, { activation, idf, encodeLength, precision }, texts);
}

const spladeTiny = realWeights('splade-tiny');
const REAL: Texts = {
  documents: [
    'A lighthouse keeper counts the ships that pass at night.',
    'Vitamin C does not prevent the common cold, but it may shorten it a little.',
    'Müller’s café in Zürich sells bread, honey and salt; the queue is long on Sundays. '.repeat(40),
    'Statins lower cholesterol: a randomised trial of 10,355 patients over five years (p < 0.001).',
  ],
  queries: ['who counts ships?', 'does vitamin c help against a cold', 'café zürich', 'cholesterol trial'],
};

const ST = { idf: 'none', to: 'sentence-transformers' } as const;
const WRITTEN: readonly Case[] = [
  ['golden model "tied", relu', GOLDEN, { ...ST, source: goldenFolder('tied') }],
  ['golden model "untied", l0', GOLDEN, { ...ST, source: goldenFolder('untied'), activation: 'l0' }],
  ['golden model "half", l0', GOLDEN, { ...ST, source: goldenFolder('half'), activation: 'l0' }],
  ['DistilBERT, l0', GOLDEN, { ...ST, source: join(MODELS, 'distilbert'), activation: 'l0' }],
  ['no bias, gelu_new', GOLDEN, { ...ST, source: join(MODELS, 'bert-no-bias') }],
  ['documents cut at 24 tokens', GOLDEN, { ...ST, source: goldenFolder('tied'), encodeLength: 24 }],
  ['an OpenSearch folder', GOLDEN, { idf: 'none', to: 'opensearch', source: goldenFolder('tied'), activation: 'l0' }],
];
const WRITTEN_REAL: readonly Case[] = (['relu', 'l0'] as const).flatMap((activation) => [
  [`sentence-transformers, ${activation}`, REAL, { source: spladeTiny ?? '', to: 'sentence-transformers', activation }],
  [`OpenSearch, ${activation}`, REAL, { source: spladeTiny ?? '', to: 'opensearch', activation }],
]);

describe.skipIf(!python)(`sentence-transformers loads what we write${why}`, () => {
  let theirs: Encoded[];
  beforeAll(async () => {
    theirs = await askForAll(WRITTEN, 'torch', python);
  }, PATIENCE_MS);

  it.each(named(WRITTEN))('%s: vectors and scores within 1e-4', async (_, i) => {
    expectSame(theirs[i], await ownSide(WRITTEN[i]));
  });
});

/** Models of which the network makes queries too. */
const SIAMESE: readonly Case[] = [
  ['SPLADE, relu', GOLDEN, { to: 'sentence-transformers', source: join(MODELS, 'st-plain') }],
];

describe.skipIf(!python)(`sentence-transformers loads Siamese models that we write${why}`, () => {
  let theirs: Encoded[];
  beforeAll(async () => {
    theirs = await askForAll(SIAMESE, 'torch', python);
  }, PATIENCE_MS);

  it.each(named(SIAMESE))('%s: encoded queries, documents and scores within 1e-4', async (_, i) => {
    const own = await ownSide(SIAMESE[i]);
    expect(Math.max(...own.queries.map((query) => Object.keys(query).length))).toBeGreaterThan(20); // expanded
    expectSame(theirs[i], own, { isSiamese: true });
  });
});

describe.skipIf(!pythonOnnx)(`its ONNX backend loads what torch cannot compute${whyOnnx}`, () => {
  const names = ['tied head, relu', 'tied head, l0', 'int8, relu', 'int8, tied head, l0'] as const;
  let cases: Case[];
  let theirs: Encoded[];
  beforeAll(async () => {
    const source = await writeTiedHeadModel(newFolder());
    const int8 = { ...ST, precision: 'int8' } as const;
    const [relu, l0, integers, tiedIntegers] = names;
    cases = [
      [relu, GOLDEN, { ...ST, source, activation: 'relu' }],
      [l0, GOLDEN, { ...ST, source, activation: 'l0' }],
      [integers, GOLDEN, { ...int8, source: goldenFolder('tied') }],
      [tiedIntegers, GOLDEN, { ...int8, source, activation: 'l0' }],
    ];
    theirs = await askForAll(cases, 'onnx', pythonOnnx);
  }, PATIENCE_MS);

  it.each(names.map((name, i): [string, number] => [name, i]))('%s: vectors and scores within 1e-4', async (_, i) => {
    expectSame(theirs[i], await ownSide(cases[i]));
  });
});

describe.skipIf(!python)(`we load what sentence-transformers writes${why}`, () => {
  const SAVED = [
    { layout: 'router', activation: 'relu', ours: 'relu' },
    { layout: 'router', activation: 'log1p_relu', ours: 'l0' },
    { layout: 'plain', activation: 'relu', ours: 'relu' },
    { layout: 'plain', activation: 'log1p_relu', ours: 'l0' },
  ] as const;
  const LENGTH = 48;
  // It cuts queries as well; these are shorter.
  const texts: Texts = { ...GOLDEN, queries: GOLDEN.queries.slice(0, 3) };
  const folders: string[] = [];
  let theirs: Encoded[];
  beforeAll(async () => {
    // Tokenizer files that transformers reads, and special tokens that are never active.
    const checkpoint = newFolder();
    await convertModel({ source: goldenFolder('tied'), output: checkpoint, to: 'opensearch', idf: 'none' });
    const { vocabulary } = (await loadModel(checkpoint)).tokenizer;
    const weights = vocabulary.tokens.map((_, id) => (vocabulary.specialIds.has(id) ? 0 : (id % 7) / 2));
    const answers = ask(
      SAVED.flatMap(({ layout, activation }) => {
        const folder = newFolder();
        folders.push(folder);
        const save = { action: 'save', checkpoint, folder, activation, layout, weights, length: LENGTH };
        return [save, { action: 'encode', folder, backend: 'torch', batch: 8, ...texts }];
      }),
    );
    theirs = SAVED.map((_, i) => encodedSchema.parse(answers[2 * i + 1]));
  }, PATIENCE_MS);

  it.each(SAVED.map(({ layout, activation }, i): [string, string, number] => [layout, activation, i]))(
    '%s layout, %s: vectors and scores within 1e-4',
    async (layout, _, i) => {
      const model = await loadModel(folders[i]);
      expect(model.settings).toMatchObject({ activation: SAVED[i].ours, encodeLength: LENGTH });
      expect(isSiamese(model)).toBe(layout === 'plain');
      expectSame(theirs[i], await ours(folders[i], {}, texts), { isSiamese: isSiamese(model) });
    },
  );
});

describe.skipIf(!python || !spladeTiny)(`${needs('splade-tiny')}${why}, written by us`, () => {
  let theirs: Encoded[];
  let inOnnxRuntime: readonly Vector[];
  beforeAll(async () => {
    theirs = await askForAll(WRITTEN_REAL, 'torch', python);
    const output = newFolder();
    await convertModel({ source: spladeTiny ?? '', output, to: 'onnx', activation: 'l0' });
    const { tokenizer } = await loadModel(output);
    const batch = REAL.documents.map((text) => [...tokenizer.encodeForModel(text, 512).ids]);
    const length = Math.max(...batch.map((ids) => ids.length));
    const padded = (rows: readonly number[][]) => rows.map((row) => [...row, ...Array(length - row.length).fill(0)]);
    const mask = padded(batch.map((row) => row.map(() => 1)));
    const [answer] = ask([{ action: 'onnx', file: join(output, 'model.onnx'), ids: padded(batch), mask }]);
    inOnnxRuntime = weightsSchema.parse(answer).weights;
  }, PATIENCE_MS);

  it.each(named(WRITTEN_REAL))('%s: vectors and scores within 1e-4', async (_, i) => {
    expectSame(theirs[i], await ownSide(WRITTEN_REAL[i]));
  });

  it('as ONNX with the activation inside, run by ONNX Runtime in Python: weights within 1e-5', async () => {
    const own = await ours(spladeTiny ?? '', { activation: 'l0' }, REAL);
    const difference = differenceOf(inOnnxRuntime, own.documents);
    if (process.env.LZERO_SHOW_DIFFERENCES) console.log('ONNX Runtime', difference);
    expect(difference).toBeLessThan(1e-5);
  });
});
