/**
 * The packed package in an empty project, with the engine and without. Without it in every run, dependencies linked
 * from the repository; by npm itself only under LZERO_E2E=1, because that may ask the package registry.
 */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINE_INSTALL_COMMAND } from '../../src/graph/index.ts';
import { emptyFolder, installByHand, installByNpm, type Project, pack } from './installed-package.ts';

const INSTALL_TIMEOUT_MS = 300_000;
const mayAskRegistry = process.env.LZERO_E2E === '1';
const reason = mayAskRegistry ? '' : ' (skipped: installs from the registry; LZERO_E2E=1 runs it)';

let packFolder: string;
let tarball: string;

beforeAll(async () => {
  packFolder = await emptyFolder();
  tarball = await pack(packFolder);
}, INSTALL_TIMEOUT_MS);

afterAll(() => rm(packFolder, { recursive: true, force: true }));

/** What holds for every installation. */
function itIsTheWholePackage(installed: () => Project): void {
  it('prints its version', async () => {
    const { lzero, manifest } = installed();
    expect(await lzero('--version')).toEqual({ exitCode: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  it('ends quietly where nobody reads its output', async () => {
    expect(await installed().lzeroUnread('--help')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('can be imported by every subpath', async () => {
    const { script, manifest } = installed();
    const subpaths = Object.keys(manifest.exports).filter((subpath) => !subpath.endsWith('.json'));
    const imports = subpaths.map((subpath) => `await import(${JSON.stringify(subpath.replace('.', 'lzero'))});`);
    expect(await script(imports.join('\n'))).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });
}

/** What `lzero doctor --json` says of the engine. */
async function diagnose({ lzero }: Project) {
  const { exitCode, stdout, stderr } = await lzero('doctor', '--json');
  const { ok, engine, uses } = JSON.parse(stdout);
  const encode = uses.find(({ use }: { use: string }) => use === 'encode with a neural model');
  return { exitCode, ok, stderr, engine: engine.used?.name, encode };
}

/** What holds where no engine is installed. */
function itWorksWithoutTheEngine(installed: () => Project): void {
  it('doctor misses the engine, names the command that installs it, and is content', async () => {
    expect(await diagnose(installed())).toEqual({
      exitCode: 0,
      ok: true,
      stderr: '',
      engine: undefined,
      encode: { use: 'encode with a neural model', ready: false, lacks: 'the engine', fix: ENGINE_INSTALL_COMMAND },
    });
  });

  it.todo('lzero query gives terms and weights (#3)');
  it.todo('lzero encode --model BERT fails with MISSING_DEPENDENCY and the same command (#3)');
}

describe('unpacked without the engine', () => {
  let project: Project;
  beforeAll(async () => {
    project = await installByHand(tarball);
  });
  afterAll(() => rm(project.folder, { recursive: true, force: true }));

  itIsTheWholePackage(() => project);
  itWorksWithoutTheEngine(() => project);
});

describe.skipIf(!mayAskRegistry)(`installed by npm without optional dependencies${reason}`, () => {
  let project: Project;
  beforeAll(async () => {
    project = await installByNpm(tarball, '--omit=optional');
  }, INSTALL_TIMEOUT_MS);
  afterAll(() => rm(project.folder, { recursive: true, force: true }));

  itIsTheWholePackage(() => project);
  itWorksWithoutTheEngine(() => project);

  it(
    'the command that doctor names brings the engine',
    async () => {
      const [npm, ...args] = ENGINE_INSTALL_COMMAND.split(' ');
      expect(npm).toBe('npm');
      expect((await project.npm(...args)).exitCode).toBe(0);
      expect(await diagnose(project)).toMatchObject({
        exitCode: 0,
        engine: 'onnxruntime-node',
        encode: { ready: true },
      });
    },
    INSTALL_TIMEOUT_MS,
  );
});

describe.skipIf(!mayAskRegistry)(`installed by npm with the engine${reason}`, () => {
  let project: Project;
  beforeAll(async () => {
    project = await installByNpm(tarball, '--ignore-scripts');
  }, INSTALL_TIMEOUT_MS);
  afterAll(() => rm(project.folder, { recursive: true, force: true }));

  itIsTheWholePackage(() => project);

  it('doctor finds the engine', async () => {
    expect(await diagnose(project)).toMatchObject({ exitCode: 0, engine: 'onnxruntime-node', encode: { ready: true } });
  });

  it.skipIf(process.platform === 'win32')('is on the path of npm scripts as `lzero`', async () => {
    const { exitCode, stdout } = await project.npm('exec', '--offline', '--', 'lzero', '--version');
    expect([exitCode, stdout]).toEqual([0, `${project.manifest.version}\n`]);
  });
});
