import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { golden } from '../../../test/golden/model/fixtures.ts';
import { compareVectors } from '../../../test/lib/convert-models.ts';
import { changeJson, writeRouterFolder, writeSiameseFolder } from '../../../test/lib/sparse-encoder-folder.ts';
import { convertModel } from '../convert.ts';
import { loadModel } from '../model.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-write-st-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const limited = (source: string): void =>
  changeJson(join(source, 'config_sentence_transformers.json'), { max_active_dims: 5 });

describe('a model that encodes its queries, written for sentence-transformers', () => {
  it('weighs looked-up query tokens as before, also where each weighs 1', async () => {
    const [source, output] = [join(folder, 'source'), join(folder, 'made')];
    writeSiameseFolder(source, '6');
    await convertModel({ source, output, to: 'sentence-transformers', idf: 'none', drop: ['special-tokens'] });
    const { source: read, idf } = await loadModel(output);
    expect(read.queryWeights).toEqual({ kind: 'table', path: join(output, 'idf.json') });
    expect(new Set(idf.values)).toEqual(new Set([1]));
  });
});

describe('a limit on terms, written for sentence-transformers', () => {
  const to = 'sentence-transformers';

  it('of a model that encodes its queries is max_active_dims, which cuts both sides there as here', async () => {
    const [source, output] = [join(folder, 'source'), join(folder, 'made')];
    writeSiameseFolder(source, '6');
    limited(source);
    const report = await convertModel({ source, output, to });
    expect(report).toMatchObject({ dropped: [], settings: { prune: { rule: 'top-k', k: 5 } } });
    const config = JSON.parse(readFileSync(join(output, 'config_sentence_transformers.json'), 'utf8'));
    expect(config).toMatchObject({ max_active_dims: 5 });
    const difference = await compareVectors({ folder: source }, { folder: output }, golden.texts);
    expect(difference.numOnlyInOne).toBe(0);
    expect(difference.numTerms).toBeGreaterThan(40);
    expect(difference.numTerms).toBeLessThanOrEqual(5 * golden.texts.length);
    expect(difference.largest).toBeLessThan(1e-5);
  });

  it('of a model that looks its queries up is refused: they would be cut there', async () => {
    const [source, output] = [join(folder, 'source'), join(folder, 'made')];
    await writeRouterFolder(source, '6');
    limited(source);
    await expect(convertModel({ source, output, to })).rejects.toThrow(
      'cuts queries as well, which are looked up here',
    );
    await convertModel({ source, output, to, drop: ['prune'] });
    const config = JSON.parse(readFileSync(join(output, 'config_sentence_transformers.json'), 'utf8'));
    expect(config).not.toHaveProperty('max_active_dims');
  });
});
