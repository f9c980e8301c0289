import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { modelFolder, notPulled, placesOf, pulledNames, writeRef } from './model-cache.ts';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'lzero-cache-'));
});
afterEach(() => rmSync(cache, { recursive: true }));

const COMMIT = 'a'.repeat(40);
const name = { id: 'owner/name', revision: 'refs/pr/1' };

describe('pulledNames', () => {
  it('are the revisions that were pulled, whatever else lies among them', async () => {
    mkdirSync(placesOf(cache, name, COMMIT).folder, { recursive: true });
    await writeRef(cache, name, COMMIT);
    writeFileSync(join(modelFolder(cache, name), 'refs', '100%'), ''); // no encoding of anything
    expect(await pulledNames(cache)).toEqual([name]);
    const other = { ...name, revision: 'main' };
    expect((await notPulled(cache, other)).message).toContain('the cache has owner/name@refs/pr/1');
  });

  it('are commits where no revision is known', async () => {
    mkdirSync(placesOf(cache, name, COMMIT).folder, { recursive: true });
    mkdirSync(join(modelFolder(cache, name), 'refs'));
    writeFileSync(join(modelFolder(cache, name), 'refs', '%'), '');
    expect(await pulledNames(cache)).toEqual([{ id: name.id, revision: COMMIT }]);
  });
});
