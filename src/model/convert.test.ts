import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { golden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { firesAt } from '../../test/lib/abort.ts';
import { compareVectors, writeTiedHeadModel, writeTopicModel } from '../../test/lib/convert-models.ts';
import {
  negativeWeights,
  writeQueryTensor,
  writeRouterFolder,
  writeSiameseFolder,
} from '../../test/lib/sparse-encoder-folder.ts';
import { ConfigError, InterruptedError, OutputError } from '../core/index.ts';
import { type ConvertOptions, convertModel } from './convert.ts';
import { BAG_OF_WORDS } from './embedded-model.ts';
import { importModel } from './import.ts';
import type { Droppable } from './layouts/losses.ts';
import { loadModel } from './model.ts';
import { parsePruneRule } from './prune.ts';

const MODELS = join(import.meta.dirname, '../../test/golden/models');

let scratch: string;
let tiedHead: string;
let idf: string;
let numFolders = 0;
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'lzero-convert-'));
  tiedHead = await writeTiedHeadModel(join(scratch, 'tied-head'));
  idf = join(scratch, 'idf.json');
  writeFileSync(idf, '{"the": 0.25, "river": 3.5, "stone": -1}');
});
afterAll(() => rmSync(scratch, { recursive: true }));

/** Converts a golden model; gives the folder that was made. */
async function convert(options: Partial<ConvertOptions> & Pick<ConvertOptions, 'to'>): Promise<string> {
  const output = join(scratch, String(numFolders++));
  await convertModel({ source: goldenFolder('tied'), idf, output, ...options });
  return output;
}

const jsonOf = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

const LAYOUTS = ['lzero', 'sentence-transformers', 'opensearch', 'onnx'] as const;
describe.each(LAYOUTS)('a model written as %s and read again', (to) => {
  it.each(['tied', 'untied', 'half'])('gives the document vectors of golden model "%s" within 1e-5', async (name) => {
    const options = { activation: 'l0', idf } as const;
    const folder = await convert({ to, source: goldenFolder(name), ...options });
    const difference = await compareVectors({ folder: goldenFolder(name), options }, { folder }, golden.texts);
    expect(difference.numTerms).toBeGreaterThan(50);
    expect(difference.numOnlyInOne).toBe(0);
    expect(difference.largest).toBeLessThan(1e-5);
  });

  it.each(['distilbert', 'distilbert-bin', 'bert-no-bias'])('gives those of "%s" within 1e-5', async (name) => {
    const source = join(MODELS, name);
    const folder = await convert({ to, source, idf: 'none' });
    const own = { folder: source, options: { idf: 'none' } };
    const difference = await compareVectors(own, { folder }, golden.texts);
    expect(difference.numTerms).toBeGreaterThan(50);
    expect(difference.numOnlyInOne).toBe(0);
    expect(difference.largest).toBeLessThan(1e-5);
  });

  it.skipIf(to === 'opensearch')('gives those of a topic head within 1e-5', async () => {
    const source = await writeTopicModel(join(scratch, `topic-${to}`));
    const difference = await compareVectors(
      { folder: source, options: { idf } },
      { folder: await convert({ source, to }) },
      golden.texts,
    );
    expect(difference).toMatchObject({ numOnlyInOne: 0 });
    expect(difference.numTerms).toBeGreaterThan(100);
    expect(difference.largest).toBeLessThan(1e-5);
  });

  it('gives the same query vectors, and cuts documents at the same length', async () => {
    const folder = await convert({ to, encodeLength: 40 });
    const [before, after] = [await loadModel(goldenFolder('tied'), { idf }), await loadModel(folder)];
    const query = 'the river, the stone and [MASK] 漢';
    expect(before.encodeQuery(query).terms).toHaveLength(4); // the, river, a comma, and; stone is below 0
    expect(after.encodeQuery(query)).toEqual(before.encodeQuery(query));
    expect(after.settings).toMatchObject({ encodeLength: 40 });
  });
});

describe('a folder for sentence-transformers', () => {
  it('has a router with a table for queries, and network and pooling for documents', async () => {
    const folder = await convert({ to: 'sentence-transformers', activation: 'l0' });
    expect(jsonOf(folder, 'router_config.json').structure).toEqual({
      query: ['query_0_SparseStaticEmbedding'],
      document: ['document_0_MLMTransformer', 'document_1_SpladePooling'],
    });
    const pooling = jsonOf(folder, 'document_1_SpladePooling', 'config.json');
    expect(pooling).toMatchObject({ pooling_strategy: 'max', activation_function: 'log1p_relu' });
  });

  it('holds a tied head as an ONNX file without weights for torch, and says how to load it', async () => {
    const output = join(scratch, 'tied-for-st');
    const report = await convertModel({ source: tiedHead, output, to: 'sentence-transformers', idf });
    const network = join(output, 'document_0_MLMTransformer');
    expect(existsSync(join(network, 'onnx', 'model.onnx'))).toBe(true);
    expect(existsSync(join(network, 'model.safetensors'))).toBe(false);
    expect(report.notes.join()).toContain('backend="onnx"');
    const difference = await compareVectors(
      { folder: tiedHead, options: { idf } },
      { folder: output },
      golden.texts.slice(0, 9),
    );
    expect(difference.numOnlyInOne).toBe(0);
    expect(difference.largest).toBeLessThan(1e-5);
  });

  it('of a DistilBERT is a DistilBERT again', async () => {
    const folder = await convert({ to: 'sentence-transformers', source: join(MODELS, 'distilbert'), idf: 'none' });
    const config = jsonOf(folder, 'document_0_MLMTransformer', 'config.json');
    expect(config).toMatchObject({ model_type: 'distilbert', architectures: ['DistilBertForMaskedLM'] });
  });

  it('of a model that encodes its queries has no router', async () => {
    const source = await convert({ to: 'lzero' });
    const path = join(source, 'lzero.json');
    writeFileSync(path, JSON.stringify({ ...jsonOf(path), queries: 'encoded' }));
    const folder = await convert({ to: 'sentence-transformers', source, idf: undefined });
    expect(jsonOf(folder, 'modules.json')).toHaveLength(2);
    const model = await loadModel(folder);
    expect(model.settings).toMatchObject({ queries: 'encoded' });
    expect(model.encodeQuery('river').terms).toEqual([{ token: 'river', weight: 3.5 }]);
  });
});

describe('our own layout', () => {
  const quantised = () => convert({ to: 'lzero', precision: 'int8' });

  it('has the precision that was asked for, whatever the source has', async () => {
    const source = await quantised();
    expect(jsonOf(source, 'lzero.json')).toHaveProperty('precision', 'int8');
    const options = { source, idf: undefined, to: 'lzero' } as const;
    const floats = await convert({ ...options, precision: 'fp32' });
    expect(jsonOf(floats, 'lzero.json')).not.toHaveProperty('precision');
    const as = { folder: source, options: { precision: 'fp32' } } as const;
    expect(await compareVectors(as, { folder: floats }, golden.texts)).toMatchObject({ numOnlyInOne: 0, largest: 0 });
    expect(jsonOf(await convert(options), 'lzero.json')).toHaveProperty('precision', 'int8');
  });

  it('takes neither a backend nor something to drop', async () => {
    await expect(convert({ to: 'lzero', backend: 'onnx' })).rejects.toThrow('no choice of backend');
    await expect(convert({ to: 'lzero', drop: ['prune'] })).rejects.toThrow('no prune to be left out');
  });

  it.each(LAYOUTS)('and every other keep settings that the source fixes: %s', async (to) => {
    const source = await quantised();
    for (const precision of ['fp32', 'int8'] as const) {
      if (precision === 'int8' && to === 'opensearch') continue; // refused for other reasons
      const change = convert({ source, idf: undefined, to, precision, activation: 'l0' });
      await expect(change).rejects.toThrow(/activation cannot be changed from outside/);
    }
  });

  it('of a model without weights of ours has the arithmetic that it has', async () => {
    const onnx = await convert({ to: 'onnx', precision: 'int8' });
    const again = { source: onnx, idf: undefined, to: 'lzero' } as const;
    await expect(convert({ ...again, precision: 'fp32' })).rejects.toThrow('whose arithmetic is its own');
    const report = await convertModel({ ...again, output: join(scratch, 'onnx-again'), precision: 'int8' });
    expect(report.precision).toBe('int8');
    const bow = { source: BAG_OF_WORDS, idf: undefined, to: 'lzero' } as const;
    await expect(convert({ ...bow, precision: 'int8' })).rejects.toThrow('has no network');
  });
});

describe('what a layout cannot carry', () => {
  const prune = parsePruneRule('mass:0.9');

  it.each(['sentence-transformers', 'opensearch', 'onnx'] as const)('%s: pruning is refused by name', async (to) => {
    await expect(convert({ to, prune })).rejects.toThrow(/cannot carry pruning \(mass:0\.9\)/);
    await expect(convert({ to, prune })).rejects.toMatchObject({
      code: 'CONFIG',
      hint: expect.stringContaining('--drop'),
    });
  });

  it('is left out where the caller says so, and the report tells', async () => {
    const output = join(scratch, 'dropped');
    const common = { source: goldenFolder('tied'), idf, output } as const;
    const report = await convertModel({ ...common, to: 'onnx', prune, drop: ['prune'] });
    expect(report).toMatchObject({ dropped: ['prune'], settings: { prune: { rule: 'none' } } });
  });

  it('that the model does not have is not left out, and the report tells', async () => {
    const output = join(scratch, 'needless');
    const report = await convertModel({ source: goldenFolder('tied'), idf, output, to: 'onnx', drop: ['prune'] });
    expect(report.dropped).toEqual([]);
    expect(report.notes).toEqual([
      expect.stringContaining('query weights are below 0: they count as 0'),
      expect.stringContaining('nothing was left out for --drop prune'),
    ]);
  });

  it('three logarithms are refused for SpladePooling, and ONNX is named, which has them', async () => {
    await expect(convert({ to: 'sentence-transformers', activation: 'l0-2' })).rejects.toMatchObject({
      message: expect.stringContaining('activation l0-2'),
      hint: expect.stringContaining('--to onnx'),
    });
  });

  it('a tied head and int8 are refused for torch, and the ONNX backend is named', async () => {
    const torch = { to: 'sentence-transformers', backend: 'torch' } as const;
    await expect(convert({ ...torch, source: tiedHead })).rejects.toMatchObject({
      message: expect.stringContaining('tied head'),
      hint: expect.stringContaining('--backend onnx'),
    });
    await expect(convert({ to: 'opensearch', source: tiedHead })).rejects.toThrow(ConfigError);
    await expect(convert({ ...torch, precision: 'int8' })).rejects.toThrow('not in int8');
  });

  it('a model without a network is no model for others', async () => {
    await expect(convert({ to: 'onnx', source: BAG_OF_WORDS, idf: undefined })).rejects.toThrow('has no network');
  });

  it('an ONNX file cannot be turned into a checkpoint', async () => {
    const source = await convert({ to: 'onnx' });
    await expect(convert({ to: 'opensearch', source, idf: undefined })).rejects.toThrow('ONNX file');
  });
});

describe.each(LAYOUTS)('what sentence-transformers reads in another way than lzero, written as %s', (to) => {
  const source = (): string => join(scratch, `read-otherwise-${numFolders++}`);
  const numNegative = negativeWeights.filter((weight) => weight < 0).length;

  /** Refused by a name that --drop takes, and made with it. */
  async function expectLoss(folder: string, name: Droppable, reason: RegExp): Promise<string> {
    const output = join(scratch, String(numFolders++));
    const refused = convertModel({ source: folder, output, to });
    await expect(refused).rejects.toThrow(reason);
    await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining(`--drop ${name}`) });
    expect(existsSync(output)).toBe(false);
    expect(await convertModel({ source: folder, output, to, drop: [name] })).toMatchObject({ dropped: [name] });
    return output;
  }

  it('query weights below 0 are refused by name, and 0 with --drop', async () => {
    const folder = source();
    await writeRouterFolder(folder, '6');
    await writeQueryTensor(join(folder, 'query_0_SparseStaticEmbedding'), negativeWeights);
    const made = await expectLoss(
      folder,
      'negative-weights',
      new RegExp(`the layout ${to} cannot carry ${numNegative} query weights`),
    );
    expect((await loadModel(made)).encodeQuery('the river')).toEqual(
      (await loadModel(folder)).encodeQuery('the river'),
    );
  });

  // OpenSearch's layout looks queries up, which is a loss by itself.
  if (to !== 'opensearch')
    it('special tokens with weights on both sides are refused, with what they do, and silent with --drop', async () => {
      const folder = source();
      writeSiameseFolder(folder, '6');
      const reason = /weights of special tokens: .* \(\d+ of 196 scores change, by up to 0\.\d+\)/;
      await expectLoss(folder, 'special-tokens', reason);
    });

  it('neither is a loss where nothing of the kind changes a score, or in a model that lzero has made', async () => {
    const folder = source();
    await writeRouterFolder(folder, '6');
    const place = join(folder, 'query_0_SparseStaticEmbedding');
    await writeQueryTensor(place, negativeWeights.map(Math.abs));
    expect(await convertModel({ source: folder, output: source(), to })).toMatchObject({ dropped: [] });
    await writeQueryTensor(place, negativeWeights);
    const imported = source();
    const { notes } = await importModel({ source: folder, output: imported });
    expect(notes).toContain(`${numNegative} query weights are below 0: they count as 0`);
    expect(await convertModel({ source: imported, output: source(), to })).toMatchObject({ dropped: [] });
  });
});

describe('the folder that is made', () => {
  it('is not made at all where the model cannot be written, and leaves nothing beside it', async () => {
    const parent = join(scratch, 'nothing');
    mkdirSync(parent);
    const options = { source: tiedHead, idf, output: join(parent, 'made'), to: 'opensearch' } as const;
    await expect(convertModel(options)).rejects.toThrow(ConfigError);
    expect(readdirSync(parent)).toEqual([]);
  });

  it('replaces another model with --force only, and never anything else', async () => {
    const folder = await convert({ to: 'sentence-transformers' });
    const again = (output: string, force: boolean) =>
      convertModel({ source: goldenFolder('tied'), idf, output, to: 'onnx', force });
    await expect(again(folder, false)).rejects.toThrow(OutputError);
    await again(folder, true);
    expect(readdirSync(folder)).toContain('model.onnx');
    expect(readdirSync(folder)).not.toContain('modules.json');
    const other = join(scratch, 'photos');
    mkdirSync(other);
    await expect(again(other, true)).rejects.toThrow('not a model folder');
  });

  it.each(LAYOUTS)('as %s is not made where the caller stops: before, between tensors, or at the end', async (to) => {
    const parent = join(scratch, `stopped-${to}`);
    const precision = to === 'lzero' ? 'int8' : 'fp32'; // else the file of weights is copied as a whole
    const stopped = (signal: AbortSignal) =>
      convertModel({ source: goldenFolder('tied'), idf, output: join(parent, 'made'), to, precision, signal });
    mkdirSync(parent);
    const never = firesAt(Number.POSITIVE_INFINITY);
    await stopped(never.signal);
    rmSync(join(parent, 'made'), { recursive: true });
    expect(never.numAsked()).toBeGreaterThan(20); // the golden model has more tensors than that
    for (const n of [1, 2, 9, never.numAsked()]) {
      const { signal, numAsked } = firesAt(n);
      await expect(stopped(signal)).rejects.toThrow(InterruptedError);
      expect(numAsked()).toBe(n);
      expect(readdirSync(parent)).toEqual([]);
    }
  });

  it('stays as it was where the caller stops what would replace it', async () => {
    const folder = await convert({ to: 'onnx' });
    const before = readdirSync(folder);
    const { signal } = firesAt(9);
    await expect(convert({ to: 'sentence-transformers', output: folder, force: true, signal })).rejects.toThrow(
      InterruptedError,
    );
    expect(readdirSync(folder)).toEqual(before);
  });
});
