import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { encodeAll, golden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { firesAt } from '../../test/lib/abort.ts';
import { writeTopicModel } from '../../test/lib/convert-models.ts';
import { writeJson, writeRouterFolder, writeSiameseFolder } from '../../test/lib/sparse-encoder-folder.ts';
import { InterruptedError } from '../core/index.ts';
import { Checkpoint, TOPIC } from './checkpoint.ts';
import { putInPlace } from './folder-output.ts';
import { importModel } from './import.ts';
import { quantiseModel } from './int8/quantise-model.ts';
import { loadModel } from './model.ts';
import { openSafetensors } from './tensors/safetensors.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-import-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

describe('a model folder that replaces another', () => {
  it.skipIf(process.platform === 'win32')('leaves the old one where it was if it cannot get its name', async () => {
    const output = join(folder, 'model');
    mkdirSync(output);
    writeFileSync(join(output, 'lzero.json'), 'old');
    mkdirSync(join(folder, 'new'));
    const temporary = `${folder}/new/.`; // is there, and no system gives it another name
    await expect(putInPlace(temporary, output)).rejects.toThrow('rename');
    expect(readFileSync(join(output, 'lzero.json'), 'utf8')).toBe('old');
    expect([readdirSync(folder).sort(), readdirSync(join(folder, 'new'))]).toEqual([['model', 'new'], []]);
  });
});

describe('an imported model', () => {
  it.skipIf(!existsSync('/proc/self/fd'))('has all its files on disk before it has its name', async () => {
    const output = join(folder, 'model');
    const synced = new Set<number>();
    const handle = await open(folder);
    await handle.close();
    const prototype: FileHandle = Object.getPrototypeOf(handle);
    const sync = prototype.sync;
    vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      await sync.call(this);
      if (!existsSync(output)) synced.add((await this.stat()).ino);
    });
    await importModel({ source: goldenFolder('tied'), output, idf: 'none' });
    const files = readdirSync(output, { withFileTypes: true });
    const unsynced = files.filter(({ name }) => !synced.has(statSync(join(output, name)).ino));
    expect([files.length > 3, unsynced]).toEqual([true, []]);
  });

  it.each([{}, { dtype: 'F16' }] as const)('%j is not made where the caller stops, nor anything else', async (how) => {
    const stopped = (signal: AbortSignal) =>
      importModel({ source: goldenFolder('tied'), output: join(folder, 'model'), idf: 'none', ...how, signal });
    const never = firesAt(Number.POSITIVE_INFINITY);
    await stopped(never.signal);
    rmSync(join(folder, 'model'), { recursive: true });
    for (const n of [1, 2, never.numAsked()]) {
      await expect(stopped(firesAt(n).signal)).rejects.toThrow(InterruptedError);
      expect(readdirSync(folder)).toEqual([]);
    }
  });
});

describe('a model imported from another layout', () => {
  const output = () => join(folder, 'model');
  const source = () => join(folder, 'source');

  it.each(['5', '6', 'opensearch'] as const)(
    'gives the vectors and query weights of the sentence-transformers folder (%s)',
    async (flavour) => {
      await writeRouterFolder(source(), flavour);
      const { layout, settings, notes } = await importModel({ source: source(), output: output() });
      expect(layout).toBe('sentence-transformers');
      expect(settings).toMatchObject({ activation: 'l0', encodeLength: 64, idf: 'idf.json', name: 'model' });
      expect(notes.length).toBeGreaterThan(1);
      const [before, after] = [await loadModel(source()), await loadModel(output())];
      expect(await encodeAll(after, golden.texts)).toEqual(await encodeAll(before, golden.texts));
      expect(after.idf.values).toEqual(before.idf.values);
      await before.close();
      await after.close();
      expect(readdirSync(output()).sort()).toEqual([
        'README.md',
        'config.json',
        'idf.json',
        'lzero.json',
        'model.safetensors',
        ...(flavour === '5' ? [] : ['tokenizer_config.json']),
        'vocab.txt',
      ]);
    },
  );

  it.each([
    ['bert-bin', /^(?:bert|cls)\./],
    ['bert-old-names', /^(?:bert|cls)\./],
    ['distilbert-bin', /^(?:distilbert|vocab_\w+)\./],
  ])('from %s has the names that its config.json promises', async (name, names) => {
    await importModel({
      source: join(import.meta.dirname, '../../test/golden/models', name),
      output: output(),
      idf: 'none',
    });
    const file = await openSafetensors(join(output(), 'model.safetensors'));
    const others = [...file.tensors.keys()].filter((tensor) => !names.test(tensor));
    await file.close();
    expect([file.tensors.size > 20, others]).toEqual([true, []]);
  });

  it.skipIf(process.platform === 'win32')(
    'from a cache whose pytorch_model.bin is a link is safetensors all the same',
    async () => {
      const source = join(import.meta.dirname, '../../test/golden/models/bert-bin');
      const cache = join(folder, 'cache');
      mkdirSync(cache);
      writeFileSync(join(folder, 'checksum'), readFileSync(join(source, 'pytorch_model.bin')));
      for (const name of readdirSync(source))
        symlinkSync(name === 'pytorch_model.bin' ? join(folder, 'checksum') : join(source, name), join(cache, name));
      await importModel({ source: cache, output: output(), idf: 'none' });
      const file = await openSafetensors(join(output(), 'model.safetensors'));
      await file.close();
      expect(file.tensors.size).toBeGreaterThan(20);
    },
  );

  it('keeps 8-bit codes where they are copied, and says what they are where they become floats', async () => {
    await importModel({ source: goldenFolder('tied'), output: source(), idf: 'none' });
    await quantiseModel({ source: source(), output: output() });
    const made = async (options: { dtype?: 'F16' }) => {
      const report = await importModel({ source: output(), output: join(folder, 'again'), force: true, ...options });
      return report;
    };
    const copied = await made({});
    expect(copied.settings).toHaveProperty('precision', 'int8');
    expect(copied.notes).toEqual([]);
    const floats = await made({ dtype: 'F16' });
    expect(floats.settings).not.toHaveProperty('precision');
    expect(floats.notes).toEqual([expect.stringContaining('as floats they stay rounded')]);
  });

  it('may be given other settings than those that the layout fixes', async () => {
    await writeRouterFolder(source(), '6');
    const options = { activation: 'relu', encodeLength: 32, prune: { rule: 'top-k', k: 3 }, idf: 'none' } as const;
    const { settings } = await importModel({ source: source(), output: output(), ...options });
    expect(settings).toMatchObject(options);
    expect(readdirSync(output())).not.toContain('idf.json');
  });

  it('stays Siamese, and its card says so', async () => {
    writeSiameseFolder(source(), '5');
    const { settings } = await importModel({ source: source(), output: output() });
    expect(settings).toMatchObject({ queries: 'encoded', idf: 'none' });
    expect(readFileSync(join(output(), 'README.md'), 'utf8')).toContain('--query-model');
    expect((await loadModel(output())).settings).toEqual(settings);
  });

  it('takes the encoder of a dense model that is to get a head', async () => {
    writeSiameseFolder(source(), '6');
    writeJson(join(source(), 'modules.json'), [{ path: '', type: 'sentence_transformers.models.Transformer' }]);
    const dense = { source: source(), output: output(), idf: 'none' };
    await expect(importModel(dense)).rejects.toThrow('expected a SpladePooling after it');
    await expect(importModel({ ...dense, head: 'tied' })).rejects.toThrow('an MLM head of its own'); // the golden one has
  });
});

describe('a topic head with the term vectors of another model', () => {
  const texts = Array.from({ length: 120 }, (_, i) => `document ${i} about number ${i % 7} and ${i % 11}`);
  const tensorsIn = async (made: string): Promise<Record<string, Float32Array>> => {
    const checkpoint = await Checkpoint.open(made);
    const read = await Promise.all(
      Object.entries(TOPIC).map(async ([key, name]) => [key, await checkpoint.read(name)]),
    );
    await checkpoint.close();
    return Object.fromEntries(read);
  };

  it('has those vectors, within a digit of float32, and thresholds of its own texts', async () => {
    const source = await writeTopicModel(join(folder, 'source'));
    const output = join(folder, 'made');
    await importModel({ source, output, idf: 'none', head: 'topic', terms: { sameAs: source }, calibration: texts });
    const [before, after] = [await tensorsIn(source), await tensorsIn(output)];
    after.terms.forEach((value, i) => {
      expect(Math.abs(value - before.terms[i])).toBeLessThanOrEqual(1e-6 * Math.abs(before.terms[i]));
    });
    expect(after.mean).not.toEqual(before.mean);
    expect(after.bias).not.toEqual(before.bias);
  });

  it('has vectors that are given, three times as long: s of topic-head.ts', async () => {
    const source = await writeTopicModel(join(folder, 'source'));
    const output = join(folder, 'made');
    const made = { data: Float32Array.from({ length: 277 * 24 }, (_, i) => Math.sin(i)), width: 24 };
    await importModel({ source, output, idf: 'none', head: 'topic', terms: { made }, calibration: texts });
    expect((await tensorsIn(output)).terms).toEqual(made.data.map((value) => 3 * value));
  });

  it('is called untrained in the card until it learns, and that card holds for what is made of the model', async () => {
    const source = await writeTopicModel(join(folder, 'source'));
    const [made, small, other] = ['made', 'small', 'other'].map((name) => join(folder, name));
    const card = (model: string) => readFileSync(join(model, 'README.md'), 'utf8');
    await importModel({
      source,
      output: made,
      idf: 'none',
      head: 'topic',
      terms: { sameAs: source },
      calibration: texts,
    });
    await quantiseModel({ source: made, output: small });
    for (const model of [made, small]) expect(card(model)).toContain('**not trained**');

    writeFileSync(join(small, 'README.md'), '# small\n\nWritten by hand. The licence is MIT.\n');
    await importModel({ source: small, output: other });
    expect(card(other)).not.toMatch(/trained|by hand/); // who can tell
    await importModel({
      source: small,
      output: other,
      head: 'topic',
      terms: { sameAs: small },
      calibration: texts,
      force: true,
    });
    expect(card(other)).toContain('**not trained**');
  });

  it('is refused where that model has no topic head, and without term vectors', async () => {
    const source = await writeTopicModel(join(folder, 'source'));
    const made = { source, output: join(folder, 'made'), idf: 'none', head: 'topic', calibration: texts } as const;
    await expect(importModel({ ...made, terms: { sameAs: goldenFolder('tied') } })).rejects.toThrow(
      /has no topic head/,
    );
    await expect(importModel(made)).rejects.toThrow(/there are none/);
  });
});
