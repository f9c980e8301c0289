import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goldenFolder } from '../../../test/golden/model/fixtures.ts';
import { tokenizerJson } from '../../../test/golden/text/fixtures.ts';
import { goldenTokens, writeJson } from '../../../test/lib/sparse-encoder-folder.ts';
import { type ConvertOptions, convertModel } from '../convert.ts';

/** A checkpoint whose tokenizer.json cuts at 128 and fills up, as those of many public models do. */
let source: string;
let scratch: string;
let numFolders = 0;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lzero-write-tokenizer-'));
  source = join(scratch, 'source');
  cpSync(goldenFolder('tied'), source, { recursive: true });
  writeJson(join(source, 'tokenizer.json'), {
    ...tokenizerJson(goldenTokens),
    truncation: { direction: 'Right', max_length: 128, strategy: 'LongestFirst', stride: 0 },
    padding: { strategy: { Fixed: 128 }, direction: 'Right', pad_id: 0, pad_type_id: 0, pad_token: '[PAD]' },
  });
});
afterAll(() => rmSync(scratch, { recursive: true }));

/** tokenizer.json of a folder of the model as `to`. */
async function written(from: string, to: ConvertOptions['to'], folder = ''): Promise<Record<string, unknown>> {
  const output = join(scratch, String(numFolders++));
  await convertModel({ source: from, output, to, idf: 'none', encodeLength: 40 });
  return JSON.parse(readFileSync(join(output, folder, 'tokenizer.json'), 'utf8'));
}

const CUT = { direction: 'Right', max_length: 40, strategy: 'LongestFirst', stride: 0 };

describe('tokenizer.json of a model that is written for others', () => {
  it.each([
    ['onnx', ''],
    ['opensearch', ''],
    ['sentence-transformers', 'document_0_MLMTransformer'],
  ] as const)('%s: cuts where documents are cut, fills nothing up, and is else as it was', async (to, folder) => {
    const { truncation, padding, ...rest } = await written(source, to, folder);
    expect({ truncation, padding }).toEqual({ truncation: CUT, padding: null });
    const { truncation: _t, padding: _p, ...own } = JSON.parse(readFileSync(join(source, 'tokenizer.json'), 'utf8'));
    expect(rest).toEqual(own);
  });

  it('cuts no queries where they have a tokenizer of their own', async () => {
    const { truncation, padding } = await written(source, 'sentence-transformers', 'query_0_SparseStaticEmbedding');
    expect({ truncation, padding }).toEqual({ truncation: null, padding: null });
  });

  it('is made from vocab.txt with the same rule', async () => {
    expect(await written(goldenFolder('tied'), 'onnx')).toMatchObject({ truncation: CUT, padding: null });
  });
});
