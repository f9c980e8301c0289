/**
 * The packed package in an empty project, with the engine and without. Without it in every run, dependencies linked
 * from the repository; by npm itself only under LZERO_E2E=1, because that may ask the package registry.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINE_INSTALL_COMMAND } from '../../src/graph/index.ts';
import { loadModel } from '../../src/model/index.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';
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

const DOCUMENT = { id: 'a', text: 'the moon pulls the ocean' };
/** Options that name a tiny checkpoint with a network. */
const GOLDEN_MODEL = ['--model', goldenFolder('tied'), '--idf', 'none'];

/** A file of one document in a project's folder. */
async function oneDocument(folder: string): Promise<string> {
  const file = join(folder, 'documents.jsonl');
  await writeFile(file, `${JSON.stringify({ _id: DOCUMENT.id, text: DOCUMENT.text })}\n`);
  return file;
}

/** What holds for every installation. */
function itIsTheWholePackage(installed: () => Project): void {
  it('prints its version', async () => {
    const { lzero, manifest } = installed();
    expect(await lzero('--version')).toEqual({ exitCode: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  it('ends quietly where nobody reads its output', async () => {
    expect(await installed().lzeroUnread('--help')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('has the configurations of every scale of a reproduction', async () => {
    for (const scale of ['tiny', 'small', 'paper']) {
      const { exitCode, stdout } = await installed().lzero('reproduce', 'all', '--scale', scale, '--plan', '--json');
      expect([scale, exitCode]).toEqual([scale, 0]);
      expect(JSON.parse(stdout)).toMatchObject({ scale, target: 'all', numLeft: expect.any(Number) });
    }
  });

  it('can be imported by every subpath', async () => {
    const { script, manifest } = installed();
    const subpaths = Object.keys(manifest.exports).filter((subpath) => !subpath.endsWith('.json'));
    const imports = subpaths.map((subpath) => `await import(${JSON.stringify(subpath.replace('.', 'lzero'))});`);
    expect(await script(imports.join('\n'))).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('draws figures with what it has inside', async () => {
    const { script, folder } = installed();
    const source = `
      import { readFileSync } from 'node:fs';
      import { writeFigure } from 'lzero/figures';
      const axis = { label: 'n', scale: 'linear' };
      const series = [{ name: 's', kind: 'measured', points: [{ x: 1, y: 2, label: 'p' }] }];
      const figure = { id: 'f', title: 't', caption: 'c', x: axis, y: axis, series };
      const { svg, html } = await writeFigure(figure, ${JSON.stringify(join(folder, 'figures'))});
      console.log(/<circle /.test(readFileSync(svg, 'utf8')), readFileSync(html, 'utf8').length > 100_000);`;
    expect(await script(source)).toEqual({ exitCode: 0, stdout: 'true true\n', stderr: '' });
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

  it('queries and the bag of words need no engine', async () => {
    const { lzero, folder } = installed();
    const { exitCode, stdout } = await lzero('query', 'weather in ny', '--json');
    expect([exitCode, JSON.parse(stdout).terms.length]).toEqual([0, 3]);
    const encoded = await lzero('encode', await oneDocument(folder), '--model', 'bow', '--quiet');
    expect(encoded).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(encoded.stdout)._id).toBe('a');
  });

  it.each([
    ['the embedded model', []],
    ['a model folder', GOLDEN_MODEL],
  ])('encoding with %s fails with MISSING_DEPENDENCY and the command that mends it', async (_, model) => {
    const { lzero, folder } = installed();
    const { exitCode, stderr } = await lzero('encode', await oneDocument(folder), ...model);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[MISSING_DEPENDENCY]');
    expect(stderr).toContain(ENGINE_INSTALL_COMMAND);
  });
}

describe('unpacked with onnxruntime-web alone', () => {
  let project: Project;
  beforeAll(async () => {
    project = await installByHand(tarball, ['onnxruntime-web']);
  });
  afterAll(() => rm(project.folder, { recursive: true, force: true }));

  it('encodes with it to the same weights as the native engine, within 1e-5', async () => {
    const file = await oneDocument(project.folder);
    const { exitCode, stdout } = await project.lzero('encode', file, ...GOLDEN_MODEL, '--quiet');
    expect([exitCode, (await diagnose(project)).engine]).toEqual([0, 'onnxruntime-web']);
    const model = await loadModel(goldenFolder('tied'), { idf: 'none' });
    const { tokens } = model.tokenizer.vocabulary;
    const weights: Record<string, number> = JSON.parse(stdout).vector;
    for await (const { vector } of model.encode([DOCUMENT])) {
      expect(Object.keys(weights).sort()).toEqual(Array.from(vector.terms, (term) => tokens[term]).sort());
      vector.terms.forEach((term, i) => {
        expect(Math.abs(weights[tokens[term]] - vector.weights[i])).toBeLessThan(1e-5);
      });
    }
    await model.close();
  });
});

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
