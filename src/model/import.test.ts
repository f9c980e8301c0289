import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { importModel, putInPlace } from './import.ts';

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
});
