import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canMapFiles, ENGINE_INSTALL_COMMAND, ENGINE_VERSION, ENGINES, findEngine, providerOf } from './engine.ts';

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
    expect(ENGINES.map(providerOf)).toEqual(['cpu', 'wasm']);
  });

  it('are found with their version', async () => {
    expect(await findEngine()).toEqual({ name: ENGINES[0], version: ENGINE_VERSION });
  });
});
