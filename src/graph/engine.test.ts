import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  canMapFiles,
  ENGINE_INSTALL_COMMAND,
  ENGINE_VERSION,
  ENGINES,
  findEngine,
  loadEngine,
  providerOf,
} from './engine.ts';

const packageJson = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8'));

describe('the engines', () => {
  it('have in package.json the version that lzero names, and there are no others', () => {
    const [native, web] = ENGINES;
    expect(packageJson.optionalDependencies).toEqual({ [native]: ENGINE_VERSION });
    expect(packageJson.peerDependencies).toEqual({ [web]: ENGINE_VERSION });
    expect(packageJson.devDependencies[web]).toBe(ENGINE_VERSION);
    expect(ENGINE_INSTALL_COMMAND).toContain(`${native}@${ENGINE_VERSION} `);
  });

  it('are told apart by what they can do: only the native one maps files', () => {
    expect(ENGINES.map(canMapFiles)).toEqual([true, false]);
    expect(ENGINES.map((engine) => providerOf(engine))).toEqual(['cpu', 'wasm']);
    expect(ENGINES.map((engine) => providerOf(engine, 'webgpu'))).toEqual(['webgpu', 'webgpu']);
  });

  it('are found with their version', async () => {
    expect(await findEngine()).toEqual({ name: ENGINES[0], version: ENGINE_VERSION, problem: undefined });
  });

  it('tell why the native one is passed over where it is installed, and nothing where it is not', async () => {
    const [native, web] = ENGINES;
    const loadWeb = () => import('onnxruntime-web');
    const failing = (error: Error) => ({ [native]: () => Promise.reject(error), [web]: loadWeb }) as const;
    const broken = new Error('libstdc++.so.6: version not found\nRequire stack:');
    expect(await loadEngine(failing(broken))).toMatchObject({
      name: web,
      problem: `${native} is installed, but does not load: libstdc++.so.6: version not found`,
    });
    const code = 'ERR_MODULE_NOT_FOUND';
    const missing = Object.assign(new Error(`Cannot find package '${native}' imported from x.js`), { code });
    expect(await loadEngine(failing(missing))).toMatchObject({ name: web, problem: undefined });
    const incomplete = Object.assign(new Error("Cannot find package 'onnxruntime-common'"), { code });
    expect((await loadEngine(failing(incomplete))).problem).toContain('onnxruntime-common');
  });
});
