import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { goldenFolder } from '../../../test/golden/model/fixtures.ts';
import {
  goldenTokens,
  writeJson,
  writeRouterFolder,
  writeSiameseFolder,
} from '../../../test/lib/sparse-encoder-folder.ts';
import { CheckpointError, ConfigError, IdfError } from '../../core/index.ts';
import { BAG_OF_WORDS } from '../embedded-model.ts';
import { readModelFolder } from '../model-folder.ts';
import { readSourceModel } from './find-layout.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-layout-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const copyCheckpoint = () => cpSync(goldenFolder('tied'), folder, { recursive: true });
const layout = async () => (await readSourceModel(folder)).layout;

describe('the layout of a folder', () => {
  it('is that of its most telling file: lzero.json, modules.json, a table beside the checkpoint, the checkpoint', async () => {
    copyCheckpoint();
    expect(await layout()).toBe('transformers');
    writeJson(join(folder, 'idf.json'), { [goldenTokens[5]]: 2 });
    expect(await layout()).toBe('opensearch');
    writeSiameseFolder(folder, '6');
    rmSync(join(folder, 'idf.json'));
    expect(await layout()).toBe('sentence-transformers');
    cpSync(join(BAG_OF_WORDS, 'lzero.json'), join(folder, 'lzero.json'));
    expect(await layout()).toBe('lzero');
  });

  it('of a later release of opensearch-project is opensearch, read by its modules', async () => {
    await writeRouterFolder(folder, 'opensearch');
    expect(await layout()).toBe('sentence-transformers');
    writeFileSync(join(folder, 'query_token_weights.txt'), `${goldenTokens[5]}\t2\n`);
    const { layout: name, queryWeights } = await readSourceModel(folder);
    expect([name, queryWeights.kind]).toEqual(['opensearch', 'tensor']);
  });

  it('without any known file is a CheckpointError that names what was looked for', async () => {
    const read = readSourceModel(folder);
    await expect(read).rejects.toThrow(CheckpointError);
    await expect(read).rejects.toThrow(/lzero\.json, modules\.json, config\.json nor model\.onnx/);
  });

  it('passes modules over where only the checkpoint is wanted', async () => {
    writeSiameseFolder(folder, '6');
    expect((await readSourceModel(folder, { ignoreModules: true })).layout).toBe('transformers');
  });
});

describe('a checkpoint of no layout', () => {
  it('has the defaults of SPLADE, all of them open', async () => {
    copyCheckpoint();
    const { settings, fixed, queryWeights, notes } = await readSourceModel(folder);
    expect(settings).toMatchObject({ activation: 'relu', encodeLength: 512, prune: { rule: 'none' }, idf: 'idf.json' });
    expect([fixed.size, queryWeights.kind]).toEqual([0, 'default']);
    expect(notes.join()).toContain('log(1 + relu z)');
    const options = { activation: 'l0-2', encodeLength: 33, prune: { rule: 'top-k', k: 4 }, idf: 'none' } as const;
    expect((await readModelFolder(folder, options)).settings).toMatchObject(options);
  });

  it('whose vocabulary no table fits asks for one', async () => {
    copyCheckpoint();
    const read = readModelFolder(folder);
    await expect(read).rejects.toThrow(ConfigError);
    await expect(read).rejects.toMatchObject({
      cause: expect.any(IdfError),
      hint: expect.stringContaining('--idf none'),
    });
  });
});

describe('an opensearch-project doc model', () => {
  const [a, b] = [goldenTokens[200], goldenTokens[201]];

  it('takes its query weights from idf.json; what that does not name weighs 1', async () => {
    copyCheckpoint();
    writeJson(join(folder, 'idf.json'), { [a]: 2.5 });
    writeFileSync(join(folder, 'query_token_weights.txt'), `${a}\t9\n`);
    const { idf, notes, settings } = await readModelFolder(folder);
    expect([idf.values[200], idf.values[201], settings.idf]).toEqual([2.5, 1, 'idf.json']);
    expect(notes.join()).toContain('query_token_weights.txt is not read');
    expect(notes.join()).toContain('--activation l0');
  });

  it('takes them from query_token_weights.txt where that is all there is', async () => {
    copyCheckpoint();
    writeFileSync(join(folder, 'query_token_weights.txt'), `${a}\t2.5\n\n${b}\t0.125\r\n`);
    const { idf } = await readModelFolder(folder);
    expect([idf.values[200], idf.values[201], idf.values[202]]).toEqual([2.5, 0.125, 1]);
  });

  it.each([
    ['a line without a tab', `${a} 2`, ':1: expected a token, a tab and a number'],
    ['a line without a weight', `${a}\t1\n${b}\t`, ':2: expected'],
    ['a weight that is no number', `${a}\tmuch`, ':1: expected'],
    ['a weight that is not finite', `${a}\tInfinity`, ':1: expected'],
    ['a token twice', `${a}\t1\n${a}\t2`, 'a token occurs twice'],
    ['a token of another vocabulary', 'qwertz\t1', 'is not in the vocabulary'],
  ])('with %s is an IdfError that names the file', async (_, text, words) => {
    copyCheckpoint();
    writeFileSync(join(folder, 'query_token_weights.txt'), text);
    const read = readModelFolder(folder);
    await expect(read).rejects.toThrow(IdfError);
    await expect(read).rejects.toThrow('query_token_weights.txt');
    await expect(read).rejects.toThrow(words);
  });

  it('says how many query weights are below 0, which count as 0', async () => {
    copyCheckpoint();
    writeJson(join(folder, 'idf.json'), { [a]: -2.5, [b]: -1 });
    expect((await readModelFolder(folder)).notes.join()).toContain('2 query weights are below 0');
  });
});

describe('a folder whose files cannot be read', () => {
  it('is a CheckpointError: a folder in place of modules.json', async () => {
    copyCheckpoint();
    mkdirSync(join(folder, 'modules.json'));
    await expect(readSourceModel(folder)).rejects.toThrow(/modules\.json is not a file/);
  });
});
