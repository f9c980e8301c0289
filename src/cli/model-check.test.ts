/** The command: exit codes, words, JSON and files. What the kit finds is tested beside it, in src/model/check. */
import { linkSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { changeJson, idfTable, writeJson, writeSoundModel, writeSoundWords } from '../../test/golden/check/fixtures.ts';
import type { CheckReport, TestVectors } from '../model/index.ts';
import { formatTestVectors, testVectorsOf } from '../model/index.ts';
import { sampleTexts, vectorTexts } from './check-sample.ts';
import { modelCommand } from './model.ts';

const EMPTY_VECTORS: TestVectors = {
  schemaVersion: 1,
  model: {
    name: 'bow',
    kind: 'bow',
    prune: { rule: 'none' },
    queryWeights: 'none',
    vocabularySize: 9,
    before: [],
    after: [],
  },
  texts: [],
  pairs: [],
};

let root: string;
let words: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-check-'));
  words = join(root, 'words');
  writeSoundWords(words);
});
afterEach(() => rmSync(root, { recursive: true }));

const check = (...argv: string[]) => runCommands([modelCommand], ['model', 'check', ...argv, '--quiet']);

/** A model with a network. */
function network(): string {
  const folder = join(root, 'network');
  writeSoundModel(folder);
  return folder;
}

describe('lzero model check', () => {
  it('of a sound model finds nothing: exit code 0, no difference, no effect', async () => {
    const { exitCode, stdout } = await check(network(), '--json');
    const { checks, changesScores, schemaVersion }: CheckReport & { schemaVersion: number } = JSON.parse(stdout);
    expect(checks.filter(({ verdict }) => verdict === 'differs' || verdict === 'broken')).toEqual([]);
    expect([exitCode, changesScores, schemaVersion]).toEqual([0, false, 1]);
    expect(checks.filter(({ verdict }) => verdict === 'ok').length).toBeGreaterThanOrEqual(11);
  });

  it('says so in words', async () => {
    const { stdout, stderr } = await runCommands([modelCommand], ['model', 'check', words]);
    expect(stdout).toMatch(/^ok {14}tokenizer-files$/m);
    expect(stdout).toContain('measured on 40 queries and 75 documents');
    expect(stderr).toContain('nothing was found that changes scores');
  });

  it('is passed by the embedded model', async () => {
    expect(await check()).toMatchObject({ exitCode: 0 });
  });

  it('of one that readers disagree on says where, by how much and how to mend it: exit code 1', async () => {
    changeJson(words, 'tokenizer_config.json', { do_lower_case: false });
    const { exitCode, stdout, stderr } = await runCommands([modelCommand], ['model', 'check', words]);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^differs {9}tokenizer-files\n {16}strip_accents is true in .*\n(?: {16}.*\n)* {16}effect: [\d,]+ of 3,000 scores change, by up to [\d.]+, .*\n {16}fix: /m,
    );
    expect(stderr).toMatch(/1 of 15 checks found something that changes scores/);
  });

  it('calls a difference that changes no score by that, with what was found: exit code 0', async () => {
    const folder = network();
    writeJson(folder, 'sentence_bert_config.json', { max_seq_length: 512 });
    changeJson(folder, 'lzero.json', { encodeLength: 511 });
    const { exitCode, stdout } = await check(folder);
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^no effect {7}max-length\n {16}sentence_bert.* is 512.*\n(?: {16}.*\n)? {16}effect: none of 3,000 scores changes; .*\n {16}fix: /m,
      ),
    ]);
  });

  it('takes what a bare checkpoint leaves open, such as its activation', async () => {
    const folder = network();
    rmSync(join(folder, 'lzero.json'));
    rmSync(join(folder, 'tokenizer_config.json'));
    const { stdout, exitCode } = await check(folder, '--activation', 'l0');
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('l0, as chosen')]);
  });

  it('is no report where an option contradicts the folder: exit code 2, the error of every other command', async () => {
    const { exitCode, stdout, stderr } = await check(network(), '--activation', 'l0');
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('activation cannot be changed from outside, lzero.json fixes it');
    expect((await check(network(), '--activation', 'relu')).exitCode).toBe(0);
  });

  it('compares with another model', async () => {
    const other = join(root, 'other');
    writeSoundWords(other);
    expect(await check(words, '--against', other)).toMatchObject({ exitCode: 0 });
    writeJson(other, 'idf.json', { ...idfTable(), the: 7 });
    const { exitCode, stdout } = await check(words, '--against', other);
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^differs {9}against-query-weights$/m)]);
  });

  it('is no report where there is no folder', async () => {
    const { exitCode, stdout, stderr } = await check(join(root, 'nowhere'));
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain('does not exist');
  });
});

describe('test vectors', () => {
  const file = () => join(root, 'vectors.json');

  it('of a network are written, given by the same model again, and not by another', async () => {
    const folder = network();
    expect((await check(folder, '--write-vectors', file())).exitCode).toBe(0);
    expect(await check(folder, '--vectors', file())).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^ok {14}test-vectors$/m),
    });
    changeJson(folder, 'lzero.json', { activation: 'l0' });
    expect(await check(folder, '--vectors', file())).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^differs {9}test-vectors\n {16}activation is "relu" in the file, "l0" here$/m),
    });
  });

  it.each<[string, (vectors: TestVectors) => TestVectors]>([
    ['other tokens', (v) => ({ ...v, texts: v.texts.map((text) => ({ ...text, tokens: ['WRONG'] })) })],
    [
      'a term too many',
      (v) => ({ ...v, texts: v.texts.map((t) => ({ ...t, queryVector: { ...t.queryVector, x: 5 } })) }),
    ],
  ])('with %s end the command with exit code 1, although the listed scores stay', async (_, change) => {
    writeFileSync(file(), formatTestVectors(change(await testVectorsOf(words))));
    const { exitCode, stdout } = await check(words, '--vectors', file());
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^differs {9}test-vectors$/m)]);
    expect(stdout).toContain('effect: none of 196 scores changes; those of other texts may');
  });

  it('replace others with --force only', async () => {
    writeFileSync(file(), 'mine');
    expect((await check(words, '--write-vectors', file())).stderr).toContain('exists already');
    expect(readFileSync(file(), 'utf8')).toBe('mine');
    expect((await check(words, '--write-vectors', file(), '--force')).exitCode).toBe(0);
    expect((await check(words, '--vectors', file())).exitCode).toBe(0);
  });

  it.each(['lzero.json', 'idf.json', 'soft.json', 'hard.json'])(
    'replace nothing that is read, forced or not: %s of the model or by another name',
    async (name) => {
      symlinkSync(join(words, 'vocab.txt'), join(words, 'soft.json'));
      linkSync(join(words, 'vocab.txt'), join(words, 'hard.json'));
      const [output, before] = [join(words, name), readFileSync(join(words, name), 'utf8')];
      for (const argv of [[words], ['--against', words]]) {
        const { exitCode, stderr } = await check(...argv, '--write-vectors', output, '--force');
        expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${output} is the input itself`)]);
      }
      expect(readFileSync(output, 'utf8')).toBe(before);
    },
  );

  it('in the folder of the model are replaced like others, unless they are checked', async () => {
    const output = join(words, 'vectors.json');
    expect((await check(words, '--write-vectors', output)).exitCode).toBe(0);
    expect((await check(words, '--write-vectors', output, '--force')).exitCode).toBe(0);
    const both = await check(words, '--vectors', output, '--write-vectors', output, '--force');
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('is the input itself')]);
  });

  it('of the bag of words are what scripts/golden-check.ts has made, byte for byte', async () => {
    const made = await testVectorsOf('bow', { texts: vectorTexts(await sampleTexts()) });
    const golden = join(import.meta.dirname, '../../test/golden/check/bow.json');
    expect(formatTestVectors(made)).toBe(readFileSync(golden, 'utf8'));
    expect((await check('bow', '--vectors', golden)).exitCode).toBe(0);
  });

  it.each([
    ['missing', undefined, 'cannot read'],
    ['no JSON', '{', 'not JSON'],
    ['empty', JSON.stringify(EMPTY_VECTORS), 'texts'],
  ])('that are %s end the command with exit code 1', async (_, content, words) => {
    if (content !== undefined) writeFileSync(file(), content);
    expect(await check(words, '--vectors', file())).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(words),
    });
  });
});
