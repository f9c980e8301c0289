/** An installation whose native engine does not load: the other one encodes, and the user is told why it is slower. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goldenFolder } from '../golden/model/fixtures.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NATIVE = 'onnxruntime-node';
const TIMEOUT_MS = 60_000;

describe.skipIf(process.platform === 'win32')('lzero with a native engine that does not load', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lzero-fallback-'));
    for (const name of ['dist', 'models', 'package.json'])
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    const packages = join(folder, 'node_modules');
    mkdirSync(join(packages, NATIVE), { recursive: true });
    for (const name of readdirSync(join(ROOT, 'node_modules')))
      if (name !== NATIVE) symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
    writeFileSync(join(packages, NATIVE, 'index.js'), "throw new Error('the C library is too old');");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const lzero = (argv: readonly string[], input = '') =>
    spawnSync(process.execPath, [join(folder, 'dist/cli/main.js'), ...argv], { input, encoding: 'utf8' });
  const why = `${NATIVE} is installed, but does not load: the C library is too old`;

  it(
    'encodes with the other one and warns once, with the reason',
    () => {
      const documents = ['moon', 'tide'].map((text, i) => `${JSON.stringify({ _id: `${i}`, text })}\n`).join('');
      const { status, stdout, stderr } = lzero(
        ['encode', '-', '--model', goldenFolder('tied'), '--idf', 'none'],
        documents,
      );
      expect([status, stdout.split('\n').length]).toEqual([0, 3]);
      expect(stderr.split(why)).toHaveLength(2);
    },
    TIMEOUT_MS,
  );

  it(
    'indexes with the other one and warns once, however many groups there are, and so when more is added',
    () => {
      const [index, argv] = [join(folder, 'my.index'), ['--model', goldenFolder('tied'), '--idf', 'none']];
      const documents = Array.from({ length: 1100 }, (_, i) => `${JSON.stringify({ _id: `${i}`, text: 'moon' })}\n`);
      const calls = [
        ['index', '-', '-o', index, ...argv],
        ['add', index, '-', ...argv],
      ];
      for (const call of calls) {
        const { status, stderr } = lzero(call, documents.join(''));
        expect(status).toBe(0);
        expect(stderr.split(why)).toHaveLength(2);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'says so in doctor',
    () => {
      expect(lzero(['doctor']).stdout).toMatch(new RegExp(`^engine +onnxruntime-web .*${why}$`, 'm'));
    },
    TIMEOUT_MS,
  );
});
