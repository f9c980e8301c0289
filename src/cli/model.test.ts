import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { changeConfig, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { writeRouterFolder } from '../../test/lib/sparse-encoder-folder.ts';
import { loadModel, openSafetensors, writeSafetensors } from '../model/index.ts';
import { encodeCommand } from './encode.ts';
import { modelCommand } from './model.ts';

let folder: string;
let output: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-model-'));
  output = join(folder, 'made');
});
afterEach(() => rmSync(folder, { recursive: true }));

const model = (...argv: string[]) => runCommands([modelCommand, encodeCommand], ['model', ...argv]);
const encode = (...argv: string[]) => runCommands([modelCommand, encodeCommand], ['encode', ...argv, '--quiet']);

/** Documents of different words, as calibration text. */
function writeCorpus(numDocs: number): string {
  const path = join(folder, 'corpus.jsonl');
  const words = ['ocean', 'moon', 'tide', 'bread', 'yeast', 'chain', 'light', 'lens', 'time', 'water'];
  const text = (i: number) => Array.from({ length: 12 }, (_, w) => words[(i * (w + 3)) % words.length]).join(' ');
  writeFileSync(
    path,
    Array.from({ length: numDocs }, (_, i) => `${JSON.stringify({ _id: `${i}`, text: text(i) })}\n`).join(''),
  );
  return path;
}

/** The golden checkpoint without its MLM head. */
async function headless(): Promise<string> {
  const source = goldenFolder('tied');
  const bare = join(folder, 'bare');
  cpSync(source, bare, { recursive: true });
  const file = await openSafetensors(join(source, 'model.safetensors'));
  const names = [...file.tensors.keys()].filter((name) => name.startsWith('bert.'));
  const tensors = await Promise.all(
    names.map(async (name) => ({
      name: name.replace('bert.', ''), // saved without the prefix, as encoders are
      dtype: 'F32' as const,
      shape: file.tensors.get(name)?.shape ?? [],
      values: await file.readFloat32(name),
    })),
  );
  await file.close();
  await writeSafetensors(join(bare, 'model.safetensors'), tensors);
  return bare;
}

/** The golden checkpoint over the vocabulary of the embedded model, whose IDF table then fits. */
async function overBertVocabulary(): Promise<string> {
  const source = goldenFolder('tied');
  const { tokens } = (await loadModel('bow')).tokenizer.vocabulary;
  const made = join(folder, 'bert-vocabulary');
  cpSync(source, made, { recursive: true });
  writeFileSync(join(made, 'vocab.txt'), `${tokens.join('\n')}\n`);
  const { vocab_size: before } = JSON.parse(readFileSync(join(source, 'config.json'), 'utf8'));
  changeConfig(made, { vocab_size: tokens.length });
  const file = await openSafetensors(join(source, 'model.safetensors'));
  const tensors = await Promise.all(
    Array.from(
      file.tensors,
      async ([
        name,
        {
          shape: [rows, ...rest],
        },
      ]) => {
        const values = await file.readFloat32(name);
        if (rows !== before) return { name, dtype: 'F32' as const, shape: [rows, ...rest], values };
        const grown = new Float32Array((values.length / rows) * tokens.length);
        grown.set(values);
        return { name, dtype: 'F32' as const, shape: [tokens.length, ...rest], values: grown };
      },
    ),
  );
  await file.close();
  await writeSafetensors(join(made, 'model.safetensors'), tensors);
  return made;
}

describe('lzero model import', () => {
  it.skipIf(process.platform === 'win32')(
    'gives its files the mode of any new file, whatever the source has',
    async () => {
      const source = join(folder, 'private');
      cpSync(goldenFolder('tied'), source, { recursive: true });
      for (const [i, name] of readdirSync(source).entries()) chmodSync(join(source, name), i % 2 ? 0o600 : 0o444);
      writeFileSync(join(folder, 'new'), '');
      const usual = statSync(join(folder, 'new')).mode;
      expect((await model('import', source, '-o', output, '--idf', 'none')).exitCode).toBe(0);
      const modes = readdirSync(output).map((name) => [name, statSync(join(output, name)).mode]);
      expect(modes).toEqual(modes.map(([name]) => [name, usual]));
    },
  );

  it('refuses to replace its source, forced or not, also by a link', async () => {
    await model('import', goldenFolder('tied'), '-o', output, '--idf', 'none');
    const link = join(folder, 'link');
    symlinkSync(output, link);
    for (const place of [output, link])
      expect(await model('import', output, '-o', place, '--dtype', 'fp16', '--force')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('is the input itself'),
      });
  });

  it('refuses to replace a model that holds its source, and leaves both', async () => {
    const inner = join(output, 'source');
    await model('import', goldenFolder('tied'), '-o', output, '--idf', 'none');
    await model('import', goldenFolder('tied'), '-o', inner, '--idf', 'none');
    expect(await model('import', inner, '-o', output, '--force')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('holds the input'),
    });
    expect(existsSync(join(inner, 'lzero.json'))).toBe(true);
  });

  it('refuses to replace a model that holds a table or a text that it reads', async () => {
    const argv = ['import', goldenFolder('tied'), '-o', output];
    await model(...argv, '--idf', 'none');
    const held = join(output, 'vocab.txt');
    for (const options of [
      ['--idf', held],
      ['--idf', 'none', '--head', 'tied', '--calibrate', held],
    ])
      expect(await model(...argv, ...options, '--force')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(`holds the input ${held}`),
      });
  });

  it('reports the calibration lines that --skip-bad leaves out', async () => {
    const corpus = writeCorpus(12);
    appendFileSync(corpus, '{"_id":\n');
    const tied = ['--head', 'tied', '--calibrate', corpus, '--skip-bad', '--idf', 'none'];
    expect(await model('import', await headless(), '-o', output, ...tied)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(new RegExp(`1 bad lines were left out\n.*${corpus}:13: `)),
    });
  });

  it('makes a folder whose vectors are those of the checkpoint', async () => {
    const corpus = writeCorpus(6);
    const bare = ['--model', goldenFolder('tied'), '--idf', 'none', '--activation', 'l0', '--prune', 'top-k:9'];
    expect((await model('import', ...bare.slice(1, 2), '-o', output, ...bare.slice(2))).exitCode).toBe(0);
    expect((await encode(corpus, '--model', output)).stdout).toBe((await encode(corpus, ...bare)).stdout);
    expect(readFileSync(join(output, 'README.md'), 'utf8')).toContain('| activation | l0 |');
  });

  it('fixes the settings: options beside them are refused, another import may change them', async () => {
    const corpus = writeCorpus(2);
    await model('import', goldenFolder('tied'), '-o', output, '--idf', 'none');
    expect(await encode(corpus, '--model', output, '--prune', 'top-k:1')).toMatchObject({ exitCode: 2 });
    const other = join(folder, 'other');
    expect((await model('import', output, '-o', other, '--prune', 'top-k:1')).exitCode).toBe(0);
    const { stdout } = await encode(corpus, '--model', other);
    expect(Object.keys(JSON.parse(stdout.split('\n')[0]).vector)).toHaveLength(1);
  });

  it('makes a head for a checkpoint without one only when told to, and the card says so', async () => {
    const source = await headless();
    const corpus = writeCorpus(30);
    expect(await model('import', source, '-o', output, '--idf', 'none')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--head pooled --calibrate'),
    });
    expect(existsSync(output)).toBe(false);
    const tied = ['import', source, '-o', output, '--idf', 'none', '--head', 'tied', '--calibrate', corpus];
    expect((await model(...tied)).stdout).toContain('tied head calibrated on 30 documents');
    expect(readFileSync(join(output, 'README.md'), 'utf8')).toContain('**not trained** (30 documents)');
    expect((await encode(corpus, '--model', output)).exitCode).toBe(0);
  });

  it('makes one kind of head in place of the other, with nothing left of it', async () => {
    const source = await headless();
    const corpus = writeCorpus(30);
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    const make = (from: string, to: string, kind: string) =>
      model('import', from, '-o', to, '--idf', 'none', '--head', kind, '--calibrate', corpus);
    expect((await make(source, first, 'pooled')).stdout).toContain('pooled head calibrated on 30 documents');
    expect((await make(first, second, 'tied')).stdout).toContain('tied head calibrated on 30 documents');
    expect((await make(source, output, 'tied')).exitCode).toBe(0);
    const weights = (path: string) => readFileSync(join(path, 'model.safetensors'));
    expect(weights(second).equals(weights(output))).toBe(true);
    expect(weights(first).equals(weights(output))).toBe(false);
  });

  it('writes half-size weights with --dtype fp16', async () => {
    await model('import', goldenFolder('tied'), '-o', output, '--idf', 'none', '--dtype', 'fp16');
    const file = await openSafetensors(join(output, 'model.safetensors'));
    expect(new Set(Array.from(file.tensors.values(), ({ dtype }) => dtype))).toEqual(new Set(['F16']));
    await file.close();
  });

  it.each([
    [['--head', 'tied'], 2, 'go together'],
    [['--idf', 'none', '--head', 'tied', '--calibrate', 'CORPUS'], 1, 'an MLM head of its own'],
    [['--idf', 'missing.json'], 2, 'no such file'],
    [[], 2, 'for another vocabulary'],
  ])('refuses %j with exit code %i and leaves nothing behind', async (options, exitCode, words) => {
    const corpus = writeCorpus(9);
    const argv = options.map((option) => (option === 'CORPUS' ? corpus : option));
    const result = await model('import', goldenFolder('tied'), '-o', output, ...argv);
    expect(result).toMatchObject({ exitCode, stderr: expect.stringContaining(words) });
    expect(existsSync(output)).toBe(false);
  });

  it('does not replace a folder unless forced', async () => {
    const argv = ['import', goldenFolder('tied'), '-o', output, '--idf', 'none'];
    await model(...argv);
    expect(await model(...argv)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--force') });
    expect((await model(...argv, '--force')).exitCode).toBe(0);
    expect(readdirSync(folder)).toEqual(['made']);
  });

  it('replaces nothing that is not a model folder, forced or not', async () => {
    writeFileSync(join(folder, 'precious.txt'), 'mine');
    const result = await model('import', goldenFolder('tied'), '-o', folder, '--idf', 'none', '--force');
    expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('not a model folder') });
    expect(readFileSync(join(folder, 'precious.txt'), 'utf8')).toBe('mine');
  });

  it.each(['2', '9999'])('refuses the encode length %s, also over a model folder', async (length) => {
    await model('import', goldenFolder('tied'), '-o', output, '--idf', 'none');
    const other = join(folder, 'other');
    for (const source of [goldenFolder('tied'), output]) {
      const idf = source === output ? [] : ['--idf', 'none'];
      const result = await model('import', source, '-o', other, '--encode-length', length, ...idf);
      expect(result).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('encode length') });
    }
  });
});

describe('lzero model import of the model without a network', () => {
  const embedded = join(import.meta.dirname, '../../models/bow');

  it("gives it the query weights of one's own texts", async () => {
    const corpus = writeCorpus(5);
    const table = join(folder, 'idf.json');
    await model('idf', corpus, '-o', table);
    expect((await model('import', embedded, '-o', output, '--idf', table)).exitCode).toBe(0);
    const { exitCode, stdout } = await encode(corpus, '--model', output);
    expect([exitCode, stdout.split('\n').length]).toEqual([0, 6]);
    expect(readFileSync(join(output, 'idf.json'), 'utf8')).toBe(readFileSync(table, 'utf8'));
  });

  it('refuses what only networks have', async () => {
    expect(await model('import', embedded, '-o', output, '--activation', 'l0')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('takes no activation'),
    });
  });
});

describe('lzero model info', () => {
  it('shows the embedded model where none is named', async () => {
    const { stdout } = await model('info', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      settings: { name: 'lzero-en', kind: 'bert', precision: 'int8' },
      vocabularySize: 30522,
      card: expect.stringContaining('Training data'),
    });
  });

  it('shows sizes and head, and an identity that changes with the settings', async () => {
    await model('import', goldenFolder('tied'), '-o', output, '--idf', 'none');
    const other = join(folder, 'other');
    await model('import', output, '-o', other, '--activation', 'l0');
    const [a, b] = await Promise.all([output, other].map((path) => model('info', path, '--json')));
    expect(JSON.parse(a.stdout)).toMatchObject({ head: 'mlm', settings: { activation: 'relu' } });
    expect(JSON.parse(a.stdout).identity).not.toBe(JSON.parse(b.stdout).identity);
  });
});

describe('lzero model info of other layouts', () => {
  it('says what it understood of a sentence-transformers folder, and the sizes', async () => {
    const source = join(folder, 'sparse-encoder');
    await writeRouterFolder(source, '6');
    const { stdout } = await model('info', source);
    expect(stdout).toMatch(/^layout +sentence-transformers$/m);
    expect(stdout).toMatch(/^idf +query_0_SparseStaticEmbedding.model\.safetensors$/m);
    expect(stdout).toMatch(/^precision +fp32$/m);
    expect(stdout).toMatch(/^sizeBytes +[\d.]+ kB$/m);
    expect(stdout).toMatch(/^note +queries are looked up/m);
    expect(JSON.parse((await model('info', source, '--json')).stdout)).toMatchObject({
      layout: 'sentence-transformers',
      settings: { activation: 'l0' },
      architecture: 'bert',
      dtype: 'F32',
      notes: expect.arrayContaining([expect.stringContaining('SparseEncoder of sentence-transformers 6.2.0')]),
    });
  });

  it('takes the options of a checkpoint that leaves settings open', async () => {
    const { stdout } = await model('info', goldenFolder('tied'), '--idf', 'none', '--activation', 'l0-2', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      layout: 'transformers',
      idfTable: 'none',
      settings: { activation: 'l0-2' },
    });
  });
});

describe('lzero model info of a bare checkpoint', () => {
  it.each([
    ['model.safetensors.index.json', 'the weights are split over several files'],
    ['tf_model.h5', 'weights of TensorFlow or Flax'],
  ])('with nothing but %s says what is the matter', async (name, words) => {
    cpSync(goldenFolder('tied'), output, { recursive: true });
    rmSync(join(output, 'model.safetensors'));
    writeFileSync(join(output, name), '{}');
    const { exitCode, stderr } = await model('info', output, '--idf', 'none');
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(`error\\[CHECKPOINT\\]: .*${words}`)]);
  });

  it('says that it has no table of its own and takes the embedded one', async () => {
    const bare = await overBertVocabulary();
    expect((await model('info', bare)).stdout).toMatch(/^idf +the embedded table/m);
    expect(JSON.parse((await model('info', bare, '--json')).stdout).idfTable).toBe('embedded');
    writeFileSync(join(bare, 'idf.json'), '{"moon": 8}');
    expect((await model('info', bare)).stdout).toMatch(/^idf +idf\.json$/m);
  });
});

describe('lzero model idf', () => {
  it('refuses the corpus as its output, forced or not, and leaves it as it is', async () => {
    const corpus = writeCorpus(5);
    const before = readFileSync(corpus, 'utf8');
    for (const options of [[], ['--force']])
      expect(await model('idf', corpus, '-o', corpus, ...options)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('is the input itself'),
      });
    expect((await model('idf', folder, '-o', corpus, '--force')).exitCode).toBe(2); // a BEIR folder
    expect(readFileSync(corpus, 'utf8')).toBe(before);
  });

  it('weighs a token in half of the documents as the formula does, ln(1 + (N − df + ½)/(df + ½))', async () => {
    const corpus = join(folder, 'docs.jsonl');
    writeFileSync(corpus, '{"_id":"1","text":"moon moon"}\n{"_id":"2","text":"ocean"}\n');
    const table = join(folder, 'idf.json');
    expect((await model('idf', corpus, '-o', table)).stdout).toContain('weights from 2 documents');
    expect(JSON.parse(readFileSync(table, 'utf8')).moon).toBeCloseTo(Math.log(1 + 1.5 / 1.5), 6);
  });

  it('blends with another table by its share', async () => {
    const corpus = writeCorpus(5);
    const [own, general, mixed] = ['own', 'general', 'mixed'].map((name) => join(folder, `${name}.json`));
    await model('idf', corpus, '-o', own);
    writeFileSync(general, JSON.stringify({ moon: 8 }));
    await model('idf', corpus, '-o', mixed, '--blend', general, '--share', '0.25');
    const read = (path: string): Record<string, number> => JSON.parse(readFileSync(path, 'utf8'));
    expect(read(mixed).moon).toBeCloseTo(0.75 * read(own).moon + 0.25 * 8, 5);
  });

  it('replaces no table unless forced, and wants a table to share with', async () => {
    const corpus = writeCorpus(5);
    const table = join(folder, 'idf.json');
    expect((await model('idf', corpus, '-o', table)).exitCode).toBe(0);
    expect(await model('idf', corpus, '-o', table)).toMatchObject({ exitCode: 1 });
    expect((await model('idf', corpus, '-o', table, '--force')).exitCode).toBe(0);
    expect(await model('idf', corpus, '-o', table, '--share', '0.3')).toMatchObject({ exitCode: 2 });
  });
});
