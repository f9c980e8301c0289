import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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

  it('has no more beside it what killed runs for the same output left more than a day ago', async () => {
    const [uuid, other] = ['3c8a1f0e-0000-4000-8000-00000000000a', '3c8a1f0e-0000-4000-8000-00000000000b'];
    const DAY_S = 24 * 60 * 60;
    const leave = (name: string, ageS: number): string => {
      const left = join(parent, 'above', name);
      mkdirSync(left, { recursive: true });
      writeFileSync(join(left, 'model.safetensors'), '');
      utimesSync(left, 0, statSync(parent).mtimeMs / 1000 - ageS);
      return name;
    };
    const [old, aside] = [leave(`.model.${uuid}.partial`, 2 * DAY_S), leave(`.model.${uuid}.partial.old`, 2 * DAY_S)];
    const kept = [
      leave(`.model.${other}.partial`, DAY_S / 2), // may be filled just now
      leave(`.model.2.${uuid}.partial`, 2 * DAY_S), // of another output
      leave('.model.mine.partial', 2 * DAY_S), // of somebody else
    ];
    const beside = () => readdirSync(join(parent, 'above')).filter((name) => name !== 'model');
    await makeFolder(output, { inputs: [] }, fill);
    expect(beside().sort()).toEqual([...kept, aside].sort()); // it was all that there was of the model
    expect(beside()).not.toContain(old);
    await makeFolder(output, { inputs: [], force: true }, fill);
    expect(beside().sort()).toEqual([...kept].sort());
  });

  it.skipIf(process.platform === 'win32')('does not replace what its input has links to', async () => {
    const input = join(parent, 'input');
    mkdirSync(input);
    await makeFolder(output, { inputs: [input] }, fill);
    symlinkSync(join(output, 'lzero.json'), join(input, 'lzero.json'));
    const again = makeFolder(output, { inputs: [input], force: true }, fill);
    await expect(again).rejects.toThrow(`holds the input ${join(input, 'lzero.json')}`);
    expect(existsSync(join(output, 'lzero.json'))).toBe(true);
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
