import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { golden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import type { SparseVector } from '../core/index.ts';
import { importModel } from './import.ts';
import { loadModel } from './model.ts';
import { prune } from './prune.ts';
import { repruneModel } from './repruned-model.ts';

let scratch: string;
let plain: string;
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'lzero-repruned-'));
  plain = join(scratch, 'plain');
  await importModel({ source: goldenFolder('tied'), output: plain, idf: 'none', prune: { rule: 'none' } });
});
afterAll(() => rmSync(scratch, { recursive: true }));

async function vectorsOf(folder: string): Promise<SparseVector[]> {
  const model = await loadModel(folder);
  const vectors: SparseVector[] = [];
  for await (const { vector } of model.encode(golden.texts.map((text, i) => ({ id: String(i), text }))))
    vectors.push(vector);
  await model.close();
  return vectors;
}

describe('a model with another prune rule', () => {
  it('gives the vectors of the first one, pruned by that rule', async () => {
    const rule = { rule: 'top-k', k: 5 } as const;
    const output = join(scratch, 'cut');
    await repruneModel(plain, output, rule);
    expect(await vectorsOf(output)).toEqual((await vectorsOf(plain)).map((vector) => prune(vector, rule)));
  });

  it('has the same files but for its settings and the row of its card, and takes the place of an earlier one', async () => {
    const output = join(scratch, 'again');
    await repruneModel(plain, output, { rule: 'top-k', k: 5 });
    await repruneModel(plain, output, { rule: 'ratio', ratio: 0.1 });
    const text = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8');
    expect(readdirSync(output).sort()).toEqual(readdirSync(plain).sort());
    expect(JSON.parse(text(output, 'lzero.json'))).toEqual({
      ...JSON.parse(text(plain, 'lzero.json')),
      prune: { rule: 'ratio', ratio: 0.1 },
    });
    expect(text(output, 'README.md')).toBe(
      text(plain, 'README.md').replace('| pruning | none |', '| pruning | ratio:0.1 |'),
    );
  });
});
