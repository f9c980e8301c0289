import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { floatsOf, golden, goldenFolder } from '../../../test/golden/model/fixtures.ts';
import { compareVectors, vectorsOf, writeTiedHeadModel } from '../../../test/lib/convert-models.ts';
import { Session, type Tensor } from '../../graph/index.ts';
import { Checkpoint } from '../checkpoint.ts';
import { convertModel } from '../convert.ts';
import { loadModel } from '../model.ts';
import { parsePruneRule } from '../prune.ts';
import { writeOnnx } from './export-onnx.ts';

let scratch: string;
let tiedHead: string;
let pooledHead: string;
let numFolders = 0;
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'lzero-onnx-'));
  tiedHead = await writeTiedHeadModel(join(scratch, 'tied-head'));
  pooledHead = await writeTiedHeadModel(join(scratch, 'pooled-head'), 'pooled');
});
afterAll(() => rmSync(scratch, { recursive: true }));

const newFolder = () => join(scratch, String(numFolders++));
const MODELS: readonly { name: string; folder: () => string }[] = [
  { name: 'decoder tied to the embeddings', folder: () => goldenFolder('tied') },
  { name: 'decoder of its own', folder: () => goldenFolder('untied') },
  { name: 'half precision', folder: () => goldenFolder('half') },
  { name: 'tied head', folder: () => tiedHead },
  { name: 'pooled head', folder: () => pooledHead },
];

describe.each(MODELS)('a model as ONNX ($name)', ({ folder }) => {
  it.each(['relu', 'l0', 'l0-3'] as const)('gives our own vectors within 1e-5, activation %s', async (activation) => {
    const output = newFolder();
    const options = { activation, idf: 'none' };
    await convertModel({ source: folder(), output, to: 'onnx', ...options });
    const difference = await compareVectors({ folder: folder(), options }, { folder: output }, golden.texts);
    expect(difference.numTerms).toBeGreaterThan(50);
    expect(difference.numOnlyInOne).toBe(0);
    expect(difference.largest).toBeLessThan(1e-5);
  });

  it('in int8 gives what our int8 gives, within 1e-5', async () => {
    const output = newFolder();
    await convertModel({ source: folder(), output, to: 'onnx', precision: 'int8', idf: 'none' });
    const own = { folder: folder(), options: { idf: 'none', precision: 'int8' } } as const;
    const difference = await compareVectors(own, { folder: output }, golden.texts);
    expect(difference.numTerms).toBeGreaterThan(50);
    expect(difference.numOnlyInOne).toBe(0);
    expect(difference.largest).toBeLessThan(1e-5);
  });
});

describe('pruning inside the graph', () => {
  it.each(['ratio:0.4', 'threshold:0.3', 'top-k:7'])('%s keeps the terms that our own rule keeps', async (rule) => {
    const options = { prune: parsePruneRule(rule), idf: 'none' };
    const output = newFolder();
    await convertModel({ source: goldenFolder('tied'), output, to: 'onnx', ...options });
    const expected = await vectorsOf({ folder: goldenFolder('tied'), options }, golden.texts);
    const { tokenizer } = await loadModel(output);
    const batch = golden.texts.map((text) => tokenizer.encodeForModel(text, 512).ids);
    const rows = await run(join(output, 'model.onnx'), batch, 'right');
    const terms = rows.map((row) => Array.from(row.keys()).filter((j) => row[j] !== 0));
    expect(terms).toEqual(expected.map((vector) => [...vector.keys()]));
  });
});

/** sparse_weights of each document, run as one batch with padding on one side. */
async function run(
  path: string,
  batch: readonly Int32Array[],
  side: 'left' | 'right',
  filler = 0,
): Promise<Float32Array[]> {
  const session = await Session.start();
  try {
    const bytes = new Uint8Array(readFileSync(path));
    await session.load({ bytes, folder: join(path, '..') }, { threads: 1 });
    const { sparse_weights: weights } = await session.run(padded(batch, { side, filler }));
    const width = weights.dims[1];
    return batch.map((_, b) => floatsOf(weights).subarray(b * width, (b + 1) * width));
  } finally {
    await session.close();
  }
}

function padded(
  batch: readonly Int32Array[],
  { side, filler }: { side: 'left' | 'right'; filler: number },
): Record<string, Tensor> {
  const length = Math.max(...batch.map((ids) => ids.length));
  const ids = new BigInt64Array(batch.length * length).fill(BigInt(filler));
  const mask = new BigInt64Array(batch.length * length);
  batch.forEach((document, b) => {
    const begin = b * length + (side === 'left' ? length - document.length : 0);
    ids.set(BigInt64Array.from(document, BigInt), begin);
    mask.fill(1n, begin, begin + document.length);
  });
  const dims = [batch.length, length];
  return { input_ids: { dtype: 'int64', dims, data: ids }, attention_mask: { dtype: 'int64', dims, data: mask } };
}

describe('the file', () => {
  const numTerms = 277;
  const form = { form: 'weights', activation: 'relu', prune: { rule: 'none' }, precision: 'fp32' } as const;
  type More = { maxInlineBytes?: number; silenced?: ReadonlySet<number>; source?: string };
  const write = async (path: string, { source = goldenFolder('tied'), ...more }: More = {}) => {
    const checkpoint = await Checkpoint.open(source);
    await writeOnnx(path, checkpoint, { ...form, numTerms, silenced: new Set(), ...more });
    await checkpoint.close();
    return path;
  };
  const batch = [Int32Array.of(101, 110, 120, 102), Int32Array.of(101, 130, 102)];

  it('puts weights beyond its limit into a second file, and computes the same bits', async () => {
    const inline = await write(join(scratch, 'inline.onnx'));
    const external = await write(join(scratch, 'external.onnx'), { maxInlineBytes: 1000 });
    expect([existsSync(`${inline}_data`), existsSync(`${external}_data`)]).toEqual([false, true]);
    expect(statSync(external).size).toBeLessThan(statSync(`${external}_data`).size);
    expect(await run(external, batch, 'right')).toEqual(await run(inline, batch, 'right'));
  });

  const HEADS = [
    { head: 'tied decoder', source: () => goldenFolder('tied') },
    { head: 'pooled head', source: () => pooledHead },
  ];
  it.each(HEADS)(
    'gives a row of padding alone no terms, and padding on the right changes nothing beyond 1e-6: $head',
    async ({ source }) => {
      const path = await write(join(scratch, 'padding.onnx'), { source: source() });
      const [long, short, none] = await run(path, [...batch, new Int32Array(0)], 'right');
      const [alone] = await run(path, [batch[1]], 'right');
      expect(none.every((w) => w === 0)).toBe(true);
      expect(long.some((w) => w > 0)).toBe(true);
      expect(Math.max(...short.map((w, j) => Math.abs(w - alone[j])))).toBeLessThan(1e-6);
    },
  );

  const SIDES = HEADS.flatMap((head) => (['left', 'right'] as const).map((side) => ({ ...head, side })));
  it.each(SIDES)('does not look at what stands in padding on the $side: $head', async ({ source, side }) => {
    const path = await write(join(scratch, `${side}.onnx`), { source: source() });
    const [zeros, others] = [await run(path, batch, side, 0), await run(path, batch, side, 140)];
    expect(zeros[1].some((w) => w > 0)).toBe(true);
    expect(others).toEqual(zeros);
  });

  it('never activates silenced terms, and leaves the others as they are', async () => {
    const [plain] = await run(await write(join(scratch, 'plain.onnx')), [batch[0]], 'right');
    const active = Array.from(plain.keys()).filter((j) => plain[j] > 0);
    const silenced = new Set(active.slice(0, 3));
    const [silent] = await run(await write(join(scratch, 'silent.onnx'), { silenced }), [batch[0]], 'right');
    expect(active.length).toBeGreaterThan(3);
    expect([...silent]).toEqual([...plain].map((w, j) => (silenced.has(j) ? 0 : w)));
  });
});
