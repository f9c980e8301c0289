import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { modelCommand } from './model.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-convert-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const convert = (...argv: string[]) =>
  runCommands([modelCommand], ['model', 'convert', goldenFolder('tied'), '--idf', 'none', ...argv]);

describe.each([['convert', '--to', 'onnx'], ['convert', '--to', 'lzero'], ['import'], ['quantize']])(
  'lzero model %s',
  (command, ...options) => {
    it(`${options.join(' ')} that is interrupted ends with exit code 130 and leaves nothing`, async () => {
      const argv = ['model', command, goldenFolder('tied'), '--idf', 'none', '-o', join(folder, 'made'), ...options];
      const { exitCode, stdout } = await runCommands([modelCommand], argv, { signal: AbortSignal.abort() });
      expect([exitCode, stdout, readdirSync(folder)]).toEqual([130, '', []]);
    });
  },
);

describe('lzero model convert', () => {
  it('writes the layout and says so on stdout, one object with --json', async () => {
    const output = join(folder, 'made');
    const first = await convert('-o', output, '--to', 'sentence-transformers', '--activation', 'l0');
    expect(first).toMatchObject({ exitCode: 0, stdout: `${output}: layout sentence-transformers, fp32\n` });
    expect(existsSync(join(output, 'modules.json'))).toBe(true);
    const second = await convert('-o', output, '--to', 'onnx', '--force', '--json');
    expect(JSON.parse(second.stdout)).toMatchObject({
      output,
      layout: 'onnx',
      precision: 'fp32',
      dropped: [],
      notes: [],
    });
  });

  it('names what the layout cannot carry, exits with 2, and takes --drop', async () => {
    const argv = ['-o', join(folder, 'made'), '--to', 'opensearch', '--prune', 'top-k:9'];
    const refused = await convert(...argv);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('cannot carry pruning (top-k:9)');
    expect(refused.stderr).toContain('--drop prune');
    const { stdout, exitCode } = await convert(...argv, '--drop', 'prune');
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('without prune: its vectors are others')]);
  });

  it('refuses words that it does not know with exit code 2', async () => {
    for (const wrong of [['--to', 'pickle'], ['--to', 'onnx', '--drop', 'everything'], []]) {
      expect((await convert('-o', join(folder, 'made'), ...wrong)).exitCode).toBe(2);
    }
  });
});
