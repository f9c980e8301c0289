/** `lzero serve` as it is typed: the address, what it refuses, how it ends. Needs the built page (npm test builds). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { makeEveryday } from '../../test/server/serving.ts';
import { serveCommand } from './serve.ts';

let folder: string;
let index: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-cli-serve-'));
  index = join(folder, 'everyday.index');
  await makeEveryday(index);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs until it has said where it listens: a signal that has fired already. */
const lzero = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommands([serveCommand], ['serve', ...argv], { signal: AbortSignal.abort(), env });
const QUICK = ['--port', '0', '--workers', '0'];

describe('lzero serve', () => {
  it('prints the address, logs JSON on stderr, and being stopped is no error', async () => {
    const { exitCode, stdout, stderr } = await lzero([index, ...QUICK]);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\n$/)]);
    for (const line of stderr.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ level: 'info' });
  });

  it('has help with examples and defaults', async () => {
    const { exitCode, stdout } = await lzero(['--help']);
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/^Usage: lzero serve .*default: 7700.*\nExamples:\n/s),
    ]);
  });

  it('gives one JSON object with the address and the indexes, named by folder or by hand', async () => {
    const { stdout } = await lzero([index, `again=${index}`, ...QUICK, '--json', '--quiet']);
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      url: expect.stringMatching(/^http:/),
      indexes: [
        { name: 'everyday', folder: index, isWritable: false },
        { name: 'again', folder: index, isWritable: false },
      ],
    });
  });

  it('opens for writing with the model of the index', async () => {
    const { exitCode, stdout } = await lzero([index, ...QUICK, '--write', '--json', '--quiet']);
    expect([exitCode, JSON.parse(stdout).indexes[0].isWritable]).toEqual([0, true]);
  });

  it.each([
    ['no index', [], /missing required argument/],
    ['a port that is none', ['a', '--port', '70000'], /0 to 65535/],
    ['two indexes of one name', ['a/x', 'b/x'], /two indexes are called x/],
    ['a folder that names none', ['/'], /cannot be the name/],
    ['a limit that is none', ['a', '--limit', 'maxKK=3'], /no limit "maxKK".*\n.*did you mean maxK/],
    ['a limit without a number', ['a', '--limit', 'maxK'], /name=number/],
    ['a host for others without a token', ['a', '--host', '0.0.0.0'], /needs no token.*\n.*--no-auth/],
    ['writing by everybody', ['a', '--host', '0.0.0.0', '--no-auth', '--write'], /needs a write token/],
    ['writing by everybody behind a proxy', ['a', '--write', '--allow-host', 'example.org'], /needs a write token/],
    ['writing by whom a proxy names', ['a', '--write', '--client-header', 'x-real-ip'], /needs a write token/],
    ['a file of tokens that is not there', ['a', '--token-file', 'nowhere'], /--token-file: ENOENT/],
  ])('%s is wrong usage', async (_, argv, message) => {
    const { exitCode, stderr } = await lzero(argv);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('takes tokens from a file and from the environment, and names none that is bad', async () => {
    const tokens = join(folder, 'tokens');
    writeFileSync(tokens, 'read 0123456789abcdef\n');
    const host = ['--host', '0.0.0.0'];
    expect((await lzero([index, ...QUICK, ...host, '--token-file', tokens])).exitCode).toBe(0);
    expect((await lzero([index, ...QUICK, ...host], { LZERO_READ_TOKEN: '0123456789abcdef' })).exitCode).toBe(0);
    const bad = await lzero([index, ...QUICK], { LZERO_WRITE_TOKEN: 'secret' });
    expect([bad.exitCode, bad.stderr]).toEqual([2, expect.stringContaining('$LZERO_WRITE_TOKEN: a token has 16')]);
    expect(bad.stderr).not.toContain('secret');
  });

  it('names a folder that is no index', async () => {
    const { exitCode, stderr } = await lzero([join(folder, 'nowhere'), ...QUICK]);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^error\[/m)]);
  });
});
