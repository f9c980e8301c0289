import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { OutputError, UsageError } from '../core/index.ts';
import {
  exists,
  freeBytes,
  makeFolder,
  readIfExists,
  refuseInputAsOutput,
  syncFolder,
  writeFileAtomically,
} from './files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lzero-files-'));
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(scratch, 'case-'));
});
afterAll(() => rmSync(scratch, { recursive: true }));

describe('exists', () => {
  it('is true for files and folders, false for what is not there', async () => {
    writeFileSync(join(folder, 'a'), '');
    expect(await Promise.all([folder, join(folder, 'a'), join(folder, 'b')].map(exists))).toEqual([true, true, false]);
  });
});

describe('freeBytes', () => {
  it('is above 0 for a folder and a file in it, and no more than the disk has', async () => {
    writeFileSync(join(folder, 'a'), '');
    const { blocks, bsize } = statfsSync(folder);
    for (const path of [folder, join(folder, 'a')]) {
      expect(await freeBytes(path)).toBeGreaterThan(0);
      expect(await freeBytes(path)).toBeLessThanOrEqual(blocks * bsize);
    }
  });
});

describe('refuseInputAsOutput', () => {
  it.skipIf(process.platform === 'win32')('knows the input by another path, a link and another name', async () => {
    const input = join(folder, 'in');
    writeFileSync(input, '');
    symlinkSync(input, join(folder, 'soft'));
    linkSync(input, join(folder, 'hard'));
    writeFileSync(join(folder, 'other'), '');
    for (const name of ['in', './/in', 'soft', 'hard'])
      await expect(refuseInputAsOutput(`${folder}/${name}`, ['/none', input])).rejects.toThrow(UsageError);
    for (const name of ['other', 'new']) await refuseInputAsOutput(join(folder, name), [input]);
    await refuseInputAsOutput(input, []);
  });

  it.skipIf(process.platform === 'win32')('refuses a folder that holds the input, and allows one inside', async () => {
    const [outer, input] = [join(folder, 'outer'), join(folder, 'outer', 'a', 'in')];
    mkdirSync(input, { recursive: true });
    mkdirSync(join(folder, 'outer-2'));
    symlinkSync(outer, join(folder, 'link'));
    for (const name of ['outer', 'link', 'outer/a', 'outer/a/..'])
      for (const named of [input, join(folder, 'link/a/in')])
        await expect(refuseInputAsOutput(`${folder}/${name}`, [named])).rejects.toThrow(/holds the input/);
    for (const name of ['outer-2', 'outer/b', 'outer/a/in/made', 'outer/a/in-2'])
      await refuseInputAsOutput(join(folder, name), [input]);
  });

  it.skipIf(process.platform === 'win32')('refuses what a link inside of the input leads to', async () => {
    const [output, input] = [join(folder, 'old'), join(folder, 'in')];
    mkdirSync(join(input, 'made'), { recursive: true });
    mkdirSync(output);
    writeFileSync(join(output, 'weights'), '');
    writeFileSync(join(input, 'made', 'weights'), '');
    symlinkSync(join(input, 'made', 'weights'), join(input, 'made', 'again')); // goes with the output
    await refuseInputAsOutput(join(input, 'made'), [input]);
    symlinkSync(join(output, 'weights'), join(input, 'weights'));
    for (const path of [output, join(output, 'weights')])
      await expect(refuseInputAsOutput(path, [input])).rejects.toThrow(join(input, 'weights'));
  });
});

describe('readIfExists', () => {
  it('gives the text, or undefined where there is no file', async () => {
    writeFileSync(join(folder, 'a'), 'é\n');
    expect(await readIfExists(join(folder, 'a'))).toBe('é\n');
    expect(await readIfExists(join(folder, 'b'))).toBeUndefined();
    expect(await readIfExists(join(folder, 'no-folder', 'b'))).toBeUndefined();
  });

  it('does not take another failure for a missing file', async () => {
    await expect(readIfExists(folder)).rejects.toMatchObject({ code: 'EISDIR' });
  });
});

describe('writeFileAtomically', () => {
  it('writes text and bytes, in place of what was there, and leaves nothing else', async () => {
    const path = join(folder, 'out');
    await writeFileAtomically(path, 'a longer text: é\n');
    expect(readFileSync(path, 'utf8')).toBe('a longer text: é\n');
    await writeFileAtomically(path, Uint8Array.of(0, 255));
    expect([...readFileSync(path)]).toEqual([0, 255]);
    expect(readdirSync(folder)).toEqual(['out']);
  });

  it('leaves the whole of one of them when many write the same file at once', async () => {
    const path = join(folder, 'out');
    const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000 + i));
    await Promise.all(texts.map((text) => writeFileAtomically(path, text)));
    expect(texts).toContain(readFileSync(path, 'utf8'));
    expect(readdirSync(folder)).toEqual(['out']);
  });

  it('that fails names the file and the way out', async () => {
    const path = join(folder, 'missing', 'out');
    const expected = { message: expect.stringContaining(`cannot write ${path}: ENOENT`), hint: expect.any(String) };
    await expect(writeFileAtomically(path, '')).rejects.toThrow(OutputError);
    await expect(writeFileAtomically(path, '')).rejects.toMatchObject(expected);
  });

  it('that fails at the last step leaves what was there and no temporary file', async () => {
    const path = join(folder, 'out');
    mkdirSync(path);
    writeFileSync(join(path, 'inside'), 'kept');
    await expect(writeFileAtomically(path, 'text')).rejects.toThrow(OutputError);
    expect(readdirSync(folder)).toEqual(['out']);
    expect(readFileSync(join(path, 'inside'), 'utf8')).toBe('kept');
  });
});

describe('syncFolder', () => {
  it('takes a folder, and fails where there is none', async () => {
    await syncFolder(folder);
    await expect(syncFolder(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('makeFolder', () => {
  it('makes folders above it too, and takes one that is there', () => {
    const path = join(folder, 'a', 'b');
    makeFolder(path);
    makeFolder(path);
    expect(existsSync(path)).toBe(true);
  });

  it('names a read-only file system, which the recursive call of Node takes for a missing folder', () => {
    const fail = (code: string): Error => Object.assign(new Error(code), { code });
    const tried: string[] = [];
    const make = (path: string, options?: object): never => {
      tried.push(path);
      throw fail(options === undefined ? 'EROFS' : 'ENOENT');
    };
    const path = join(folder, 'nowhere', 'index');
    expect(() => makeFolder(path, make)).toThrow('EROFS');
    expect(tried).toEqual([path, join(folder, 'nowhere')]);
  });
});
