import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { goldenFolder } from '../../../test/golden/model/fixtures.ts';
import { goldenTokens } from '../../../test/lib/sparse-encoder-folder.ts';
import { Vocabulary } from '../../text/index.ts';
import { Checkpoint } from '../checkpoint.ts';
import { convertModel } from '../convert.ts';
import { writeMaskedLm } from './write-masked-lm.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-masked-lm-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const configIn = (place: string): unknown => JSON.parse(readFileSync(join(place, 'config.json'), 'utf8'));

describe('config.json of a network that is written for others', () => {
  it.each([
    ['opensearch', 'torch', ''],
    ['sentence-transformers', 'torch', 'document_0_MLMTransformer'],
    ['sentence-transformers', 'onnx', 'document_0_MLMTransformer'],
  ] as const)('as %s for %s names the id that the vocabulary gives [PAD]', async (to, backend, place) => {
    const [source, output] = [join(folder, 'source'), join(folder, 'made')];
    cpSync(goldenFolder('tied'), source, { recursive: true });
    writeFileSync(join(source, 'vocab.txt'), `${[...goldenTokens.slice(1), goldenTokens[0]].join('\n')}\n`);
    const chosen = to === 'opensearch' ? {} : { backend };
    await convertModel({ source, output, to, idf: 'none', ...chosen });
    expect(goldenTokens[0]).toBe('[PAD]');
    expect(configIn(join(output, place))).toMatchObject({ pad_token_id: goldenTokens.length - 1 });
  });

  it('names none where the vocabulary has no [PAD]', async () => {
    const tokens = goldenTokens.map((token) => (token === '[PAD]' ? '<pad>' : token));
    const checkpoint = await Checkpoint.open(goldenFolder('tied'));
    await writeMaskedLm(folder, checkpoint, new Vocabulary(tokens, [], 'without [PAD]'));
    await checkpoint.close();
    expect(configIn(folder)).toMatchObject({ model_type: 'bert' });
    expect(configIn(folder)).not.toHaveProperty('pad_token_id');
  });
});
