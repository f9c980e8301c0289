import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type HostOptions, runCommands } from '../../test/cli/fake-host.ts';
import { Scratch } from '../../test/cli/index-commands.ts';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { type HubModel, hubOf, refuse } from '../../test/http/local-hub.ts';
import { type Answer, type LocalServer, startServer } from '../../test/http/local-server.ts';
import { encodeCommand } from './encode.ts';
import { indexCommand } from './index-command.ts';
import { modelCommand } from './model.ts';
import { queryCommand } from './query.ts';
import { statsCommand } from './stats.ts';

const commit = 'ab'.repeat(20);
const file = (name: string): Buffer => readFileSync(join(goldenFolder('tied'), name));
const model: HubModel = {
  id: 'ocean/tiny',
  commit,
  files: Object.fromEntries(['config.json', 'vocab.txt', 'model.safetensors'].map((name) => [name, file(name)])),
  large: ['model.safetensors'],
};
const COMMANDS = [modelCommand, encodeCommand, queryCommand, indexCommand, statsCommand];

let scratch: Scratch;
let hub: LocalServer;

beforeEach(async () => {
  scratch = new Scratch();
  vi.stubEnv('LZERO_CACHE', scratch.path('cache'));
  await serve(hubOf(model));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await hub.stop();
  scratch.remove();
});

async function serve(answer: Answer): Promise<void> {
  await hub?.stop().catch(() => {});
  hub = await startServer(answer);
}

function lzero(argv: readonly string[], env: HostOptions['env'] = {}) {
  const usual = { LZERO_CACHE: scratch.path('cache'), HF_ENDPOINT: hub.url };
  return runCommands(COMMANDS, argv, { env: { ...usual, ...env } });
}

describe('lzero model pull', () => {
  it('fetches a model, says where it is, and the next time that it is there', async () => {
    const first = await lzero(['model', 'pull', 'ocean/tiny']);
    const folder = join(scratch.path('cache'), 'models/ocean--tiny', commit);
    expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`folder  ${folder}`) });
    expect(first.stdout).toMatch(/^ocean\/tiny is there now: commit abababababab, 3 files, 12\d\.\d kB\n/);
    expect(first.stdout).toContain('use it  --model ocean/tiny\n');
    expect(first.stderr).toMatch(/downloading ocean\/tiny: 12\d\.\d kB of 12\d\.\d kB/);
    const second = await lzero(['model', 'pull', 'ocean/tiny']);
    expect(second.stdout).toMatch(/^ocean\/tiny was there already/);
  });

  it('with --json tells files, sizes and checksums', async () => {
    const { stdout } = await lzero(['model', 'pull', `ocean/tiny@${commit}`, '--json']);
    const { files, ...facts } = JSON.parse(stdout);
    const folder = join(scratch.path('cache'), 'models/ocean--tiny', commit);
    const sizeBytes = Object.values(model.files).reduce((sum, { length }) => sum + length, 0);
    const expected = { name: 'ocean/tiny', revision: commit, commit, folder, wasThere: false, sizeBytes };
    expect(facts).toEqual({ schemaVersion: 1, ...expected });
    expect(files[0]).toEqual({
      path: 'config.json',
      sizeBytes: model.files['config.json'].length,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('fetches into another cache, and then names the folder to use', async () => {
    const other = scratch.path('other');
    const { stdout } = await lzero(['model', 'pull', 'ocean/tiny', '--cache', other, '--endpoint', hub.url]);
    expect(stdout).toContain(`use it  --model ${join(other, 'models/ocean--tiny', commit)}\n`);
  });

  it.each([
    [{ LZERO_OFFLINE: '1' }, []],
    [{ HF_HUB_OFFLINE: '1' }, []],
    [{}, ['--offline']],
  ])('offline (%j %j) asks nobody', async (env, argv) => {
    expect(await lzero(['model', 'pull', 'ocean/tiny', ...argv], env)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/error\[DOWNLOAD\]: ocean\/tiny is not in the cache .*\nhint: leave out --offline/),
    });
    expect(hub.asked).toEqual([]);
  });

  it('sends the token of the environment, and prints it nowhere', async () => {
    await lzero(['model', 'pull', 'ocean/tiny', '--verbose'], { HF_TOKEN: 'hf_secret' });
    expect(hub.asked.every(({ headers }) => headers.authorization === 'Bearer hf_secret')).toBe(true);
    await serve((response) => refuse(response, 403, 'GatedRepo'));
    const refused = await lzero(['model', 'pull', 'ocean/tiny', '--verbose'], { HF_TOKEN: 'hf_secret' });
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is gated') });
    expect(refused.stdout + refused.stderr).not.toContain('hf_secret');
  });

  it('refuses what is no name with exit code 2', async () => {
    expect(await lzero(['model', 'pull', 'tiny'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('expected OWNER/NAME'),
    });
  });
});

describe('a pulled model', () => {
  const texts = () => scratch.writeLines('docs.jsonl', [{ _id: 'a', text: 'the moon and the tide' }]);

  it('gives by its name the vectors of its folder', async () => {
    await lzero(['model', 'pull', 'ocean/tiny']);
    const encode = (name: string) => lzero(['encode', texts(), '--model', name, '--idf', 'none', '--quiet']);
    const byName = await encode('ocean/tiny');
    expect(byName.exitCode).toBe(0);
    expect(byName.stdout).toBe((await encode(goldenFolder('tied'))).stdout);
    expect((await encode(`ocean/tiny@${commit}`)).stdout).toBe(byName.stdout);
  });

  it('is named by its commit in an index that was made with it', async () => {
    await lzero(['model', 'pull', 'ocean/tiny']);
    const index = scratch.path('my.index');
    await lzero(['index', texts(), '-o', index, '--model', 'ocean/tiny', '--idf', 'none']);
    expect(readFileSync(join(index, 'manifest.json'), 'utf8')).toContain(`"ocean/tiny@${commit}"`);
  });

  it('is called by its name and not by its commit', async () => {
    await lzero(['model', 'pull', 'ocean/tiny']);
    const { stdout } = await lzero(['model', 'info', 'ocean/tiny', '--idf', 'none', '--json']);
    expect(JSON.parse(stdout).settings).toMatchObject({
      name: 'ocean/tiny',
      source: `checkpoint ocean/tiny@${commit}`,
    });
    const file = scratch.path('vectors.json');
    await lzero(['model', 'check', 'ocean/tiny', '--idf', 'none', '--write-vectors', file]);
    expect(JSON.parse(readFileSync(file, 'utf8')).model.name).toBe('ocean/tiny');
  });

  it.each([
    ['import', []],
    ['quantize', []],
    ['convert', ['--to', 'lzero']],
    ['convert', ['--to', 'onnx']],
  ])('is the source of what is made from it, by its name: model %s %j', async (verb, argv) => {
    await lzero(['model', 'pull', 'ocean/tiny']);
    const made = scratch.path('made');
    const { exitCode } = await lzero(['model', verb, 'ocean/tiny', '-o', made, '--idf', 'none', ...argv]);
    expect([exitCode, readFileSync(join(made, 'README.md'), 'utf8')]).toEqual([
      0,
      expect.stringContaining(`ocean/tiny@${commit}`),
    ]);
  });

  it('that was not pulled is not fetched: the error has the command', async () => {
    expect(await lzero(['query', 'tide', '--model', 'ocean/tiny@v2'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /there is no folder ocean\/tiny@v2, and .* was not pulled .*\nhint: fetch it first: lzero model pull ocean\/tiny@v2/,
      ),
    });
    expect(hub.asked).toEqual([]);
  });
});
