import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from './folder-output.ts';

let parent: string;
let output: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'lzero-folder-'));
  output = join(parent, 'above', 'model');
});
afterEach(() => rmSync(parent, { recursive: true }));

const fill = async (folder: string): Promise<void> => writeFileSync(join(folder, 'lzero.json'), '{}');

describe('a folder that is made', () => {
  it('holds nothing of what a killed run of the same process id has left, and leaves that alone', async () => {
    const left = join(parent, 'above', `.model.${process.pid}.partial`);
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, 'idf.json'), '{}');
    await makeFolder(output, { inputs: [] }, fill);
    expect(readdirSync(output)).toEqual(['lzero.json']);
    expect(existsSync(join(left, 'idf.json'))).toBe(true);
  });

  it('is filled beside its place under a name that tells what it is, and is then alone there', async () => {
    let before: string[] = [];
    await makeFolder(output, { inputs: [] }, async (folder) => {
      before = readdirSync(join(parent, 'above'));
      await fill(folder);
    });
    expect(before).toEqual([expect.stringMatching(/^\.model\..+\.partial$/)]);
    expect(readdirSync(join(parent, 'above'))).toEqual(['model']);
  });

  it.skipIf(process.platform === 'win32')('has the mode of any new folder', async () => {
    await makeFolder(output, { inputs: [] }, fill);
    expect(statSync(output).mode).toBe(statSync(join(parent, 'above')).mode);
  });
});
