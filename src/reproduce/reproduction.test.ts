/** What a reproduction does before it trains: nothing here gets as far as a step. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { madeUpResults, paperWorld } from '../../test/reproduce/made-up-results.ts';
import { InterruptedError, ResumeError, silentProgress } from '../core/index.ts';
import { type ReproduceOptions, reproduce } from './reproduction.ts';
import { readScale, scaleFolder } from './scale.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-reproduction-'));
});
afterAll(() => rmSync(root, { recursive: true }));

const optionsFor = (name: string): ReproduceOptions => ({
  scale: 'tiny',
  target: 'figure3',
  folder: join(root, name),
  cache: join(root, 'cache'),
  hub: { endpoint: 'http://127.0.0.1:9', token: undefined, isOffline: true },
  progress: () => silentProgress,
  clock: () => 0,
});

describe('a reproduction', () => {
  it('refuses a folder with a result of another configuration, also one that the target does not need', async () => {
    const results = join(root, 'mixed/sweep/results');
    mkdirSync(results, { recursive: true });
    const [point, result] = [...madeUpResults(await readScale(scaleFolder('tiny')), paperWorld)][0];
    expect(point).toMatch(/^lambda=0\.035/); // of the tables; figure3 has λ 0.04
    writeFileSync(join(results, `${point}.json`), JSON.stringify(result));
    const refused = reproduce({ ...optionsFor('mixed'), onEvent: () => expect.fail('begun') });
    await expect(refused).rejects.toThrow(ResumeError);
    await expect(refused).rejects.toThrow(/lambda=0\.035.* is of another configuration/);
    expect(existsSync(join(root, 'mixed/configs'))).toBe(false); // what the old results were made by would be there
  });

  it('has BM25 before the first point is trained', async () => {
    const controller = new AbortController();
    const stopped = reproduce({
      ...optionsFor('stopped'),
      target: 'all',
      signal: controller.signal,
      onEvent: ({ kind }) => kind === 'sweep' && controller.abort(),
    });
    await expect(stopped).rejects.toThrow(InterruptedError);
    expect(readdirSync(join(root, 'stopped/bm25'))).toHaveLength(1);
  });
});
