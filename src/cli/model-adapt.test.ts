import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { vectorsOf, writeTopicModel } from '../../test/lib/convert-models.ts';
import { Checkpoint, loadModel, openSafetensors, TOPIC } from '../model/index.ts';
import { addCommand } from './add.ts';
import { indexCommand } from './index-command.ts';
import { modelCommand } from './model.ts';

/** Each test starts an engine or two. */
const A_MINUTE = 60_000;

const DOCUMENTS = ['the old bridge over the river', 'bread and yeast', 'the moon and the tide', 'a bird on the bridge'];

let models: string;
let source: string;
let headless: string;
beforeAll(async () => {
  models = mkdtempSync(join(tmpdir(), 'lzero-adapt-models-'));
  [source, headless] = ['source', 'mlm'].map((name) => join(models, name));
  const plain = await writeTopicModel(join(models, 'plain'));
  await importedModel(['quantize', plain, '-o', source, '--idf', 'none', '--tables', '4bit']);
  await importedModel(['import', goldenFolder('tied'), '-o', headless, '--idf', 'none']);
}, A_MINUTE);
afterAll(() => rmSync(models, { recursive: true }));

async function importedModel(argv: readonly string[]): Promise<void> {
  expect(await runCommands([modelCommand], ['model', ...argv])).toMatchObject({ exitCode: 0 });
}

let folder: string;
let collection: string;
let output: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-adapt-'));
  [collection, output] = ['clicks', 'adapted'].map((name) => join(folder, name));
  writeCollection(DOCUMENTS, ['the river', 'bread', 'nobody opened this']);
  judge('train', 'q0 d0 1', 'q0 d3 2', 'q1 d1 1', 'q1 d2 0', 'q2 d2 0');
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeCollection(documents: readonly string[], queries: readonly string[]): void {
  mkdirSync(join(collection, 'qrels'), { recursive: true });
  const lines = (texts: readonly string[], kind: string) =>
    texts.map((text, i) => `${JSON.stringify({ _id: `${kind}${i}`, text })}\n`).join('');
  writeFileSync(join(collection, 'corpus.jsonl'), lines(documents, 'd'));
  writeFileSync(join(collection, 'queries.jsonl'), lines(queries, 'q'));
}

function judge(split: string, ...rows: readonly string[]): void {
  const lines = ['query-id corpus-id score', ...rows].map((row) => `${row.replaceAll(' ', '\t')}\n`);
  writeFileSync(join(collection, `qrels/${split}.tsv`), lines.join(''));
}

const lzero = (...argv: string[]) =>
  runCommands([modelCommand, indexCommand, addCommand], argv, { env: { LZERO_CACHE: join(folder, 'cache') } });
const adaptAuto = (...options: string[]) => lzero('model', 'adapt', source, collection, '-o', output, ...options);
const adapt = (...options: string[]) => adaptAuto('--penalty', '0.3', ...options);

/** Tensors of a model, by their bytes. */
async function bytesOf(model: string): Promise<Map<string, string>> {
  const file = await openSafetensors(join(model, 'model.safetensors'));
  const read = await Promise.all(
    Array.from(file.tensors.keys(), async (name): Promise<[string, string]> => {
      return [name, Buffer.from(await file.readBytes(name)).toString('base64')];
    }),
  );
  await file.close();
  return new Map(read);
}

/** The vector of each term, as text. */
async function termVectorsOf(model: string): Promise<string[]> {
  const checkpoint = await Checkpoint.open(model);
  const values = await checkpoint.read(TOPIC.terms);
  const { hiddenSize } = checkpoint.config;
  await checkpoint.close();
  return Array.from({ length: values.length / hiddenSize }, (_, term) =>
    values.subarray(term * hiddenSize, (term + 1) * hiddenSize).join(),
  );
}

describe('lzero model adapt', { timeout: A_MINUTE }, () => {
  it('changes the codes of asked term vectors alone, and nothing but name and source of the settings', async () => {
    const { stdout } = await adapt('--json');
    expect(JSON.parse(stdout)).toMatchObject({ schemaVersion: 1, output, queries: 2, documents: 3, penalty: 0.3 });
    const [before, after] = [await bytesOf(source), await bytesOf(output)];
    const changed = [...before.keys()].filter((name) => before.get(name) !== after.get(name));
    expect(changed.every((name) => name.startsWith(TOPIC.terms))).toBe(true);
    expect(changed).toContain(TOPIC.terms);
    const { vocabulary } = (await loadModel(source)).tokenizer;
    const asked = ['the', 'river', 'bread'].map((token) => vocabulary.idOf(token));
    const [was, is] = [await termVectorsOf(source), await termVectorsOf(output)];
    const moved = was.flatMap((vector, term) => (vector === is[term] ? [] : [term]));
    expect(moved.length).toBeGreaterThan(0);
    expect(asked).toEqual(expect.arrayContaining(moved));
    expect(readdirSync(output).sort()).toEqual(readdirSync(source).sort());
    const settings = (model: string) => JSON.parse(readFileSync(join(model, 'lzero.json'), 'utf8'));
    expect(settings(output)).toEqual({ ...settings(source), name: 'adapted', source: 'adapted from source' });
    expect(readFileSync(join(output, 'README.md'), 'utf8')).toMatch(
      /clicks, split train: 2 queries and what was opened for them, 3 documents, moved the\n.*\(penalty 0.3\)/,
    );
  });

  it('makes a word weigh more in what was opened for it than in another document, in which it weighed more before', async () => {
    writeCollection(DOCUMENTS, ['bridge']);
    judge('train', 'q0 d0 1');
    expect((await adaptAuto('--penalty', '0.001')).exitCode).toBe(0);
    const term = (await loadModel(output)).tokenizer.vocabulary.idOf('bridge') ?? -1;
    const weightsBy = async (model: string): Promise<number[]> =>
      (await vectorsOf({ folder: model }, [DOCUMENTS[0], DOCUMENTS[3]])).map((vector) => vector.get(term) ?? 0);
    const [before, after] = [await weightsBy(source), await weightsBy(output)];
    expect(before[0]).toBeLessThan(before[1]);
    expect(after[0]).toBeGreaterThan(after[1]);
  });

  it('counts no query without a term, nor what was opened for it', async () => {
    writeCollection(DOCUMENTS, ['bridge', '東京']);
    judge('train', 'q0 d0 1', 'q1 d1 1', 'q1 d0 1');
    expect(JSON.parse((await adapt('--json')).stdout)).toMatchObject({ queries: 1, documents: 1 });
  });

  it('remembers what was encoded: a second call with another penalty encodes nothing', async () => {
    await adapt();
    const memory = join(folder, 'cache/teachers');
    const state = () => readdirSync(memory).map((name) => [name, readFileSync(join(memory, name)).length]);
    const before = state();
    expect((await adaptAuto('--penalty', '1', '--force')).exitCode).toBe(0);
    expect(state()).toEqual(before);
  });

  it('chooses the penalty by clicks that are held out, and says what they gain', async () => {
    const [subjects, others] = [
      ['river', 'bread', 'moon', 'bird'],
      ['stone', 'boat', 'winter', 'wind', 'tower', 'road', 'iron', 'glass'],
    ];
    const queries = subjects.flatMap((subject) => others.map((other) => `${subject} ${other}`));
    writeCollection(DOCUMENTS, queries);
    judge('train', ...queries.map((_, q) => `q${q} d${Math.floor(q / others.length)} 1`));
    const { stdout } = await adaptAuto('--json');
    const { penalty, heldOut } = JSON.parse(stdout);
    expect(heldOut).toMatchObject({ queries: queries.length, documents: DOCUMENTS.length });
    expect(heldOut.tried.map((tried: { penalty: number }) => tried.penalty)).toEqual([0.1, 0.3, 1, 3, 10, 30]);
    const taken = heldOut.tried.find((tried: { penalty: number }) => tried.penalty === penalty);
    expect(taken.difference.mean).toBeCloseTo(taken['ndcg@10'] - heldOut['ndcg@10'], 9);
    expect(taken.difference.mean).toBeGreaterThan(0);
    const shown = await adaptAuto('--force');
    expect(shown.stdout).toMatch(new RegExp(`^ndcg@10 of 32 queries.*\n[\\s\\S]*documents, penalty ${penalty}\n$`));
  });

  it('makes no model where the words of the clicks are asked once, since then nothing helps what was held out', async () => {
    const queries =
      'river bread moon bird stone boat winter wind tower road iron glass bell smoke ash rain king queen map star'.split(
        ' ',
      );
    writeCollection(DOCUMENTS, queries);
    judge('train', ...queries.map((_, q) => `q${q} d${q % 4} 1`));
    const refused = await adaptAuto();
    expect(refused).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/error\[NO_GAIN\]: .*do not help[\s\S]*hint: keep the model/),
    });
    expect(readdirSync(folder)).not.toContain('adapted');
  });

  it('makes another model: an index of the source takes none of its vectors', async () => {
    const index = join(folder, 'index');
    await lzero('index', collection, '-o', index, '--model', source, '--quiet');
    await adapt();
    const refused = await lzero('add', index, join(collection, 'corpus.jsonl'), '--model', output);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/error\[\w+\].*model/) });
  });

  it.each([
    ['a model without a topic head', () => [headless], /no topic head[\s\S]*hint: .*lzero train/],
    ['the model without a network', () => ['bow'], /no topic head[\s\S]*hint: .*lzero train/],
    ['a split that is not there', () => [source, '--split', 'dev'], /no judgements for split dev[\s\S]*hint: /],
    ['a split where nothing was opened', () => [source, '--split', 'none'], /no query of split none with an answer/],
    ['a penalty of 0', () => [source, '--penalty', '0'], /a number above 0/],
    ['to hold out of two queries', () => [source], /2 different queries are too few[\s\S]*hint: give a penalty/],
  ])('refuses %s, and leaves nothing behind', async (_, given, words) => {
    judge('none', 'q0 d0 0');
    const [model, ...options] = given();
    const refused = await lzero('model', 'adapt', model, collection, '-o', output, ...options);
    expect(refused.exitCode).toBeGreaterThan(0);
    expect(refused.stderr).toMatch(words);
    expect(readdirSync(folder)).not.toContain('adapted');
  });

  it('says what it has learned from in the card, and so does a model that is made of it', async () => {
    judge('train', 'q1 d1 1');
    await adapt();
    const again = join(folder, 'again');
    expect(await lzero('model', 'quantize', output, '-o', again, '--tables', '4bit')).toMatchObject({ exitCode: 0 });
    const [card, ofAgain] = [output, again].map((model) => readFileSync(join(model, 'README.md'), 'utf8'));
    expect(card).toMatch(/clicks, split train: 1 query and what was opened for it, 1 document, moved the\n/);
    const told = (text: string) => text.slice(text.indexOf('## Adaptation'));
    expect(told(ofAgain)).toBe(told(card));
    expect(ofAgain).not.toContain('not trained');
  });

  it('does not replace a folder unless forced, and says so before anything is encoded', async () => {
    await adapt();
    rmSync(join(folder, 'cache'), { recursive: true });
    expect(await adapt()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--force') });
    expect(readdirSync(folder)).not.toContain('cache');
    expect(await lzero('model', 'adapt', source, collection, '-o', source, '--force')).toMatchObject({ exitCode: 2 });
  });
});
