import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { floats, orderedDict, tensor, torchZip } from '../../../test/lib/make-torch.ts';
import { CheckpointError } from '../../core/index.ts';
import { openTensorFile } from './open-tensor-file.ts';
import { writeSafetensors } from './safetensors-writer.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lzero-open-tensors-'));
afterAll(() => rmSync(scratch, { recursive: true }));
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(scratch, 'case-'));
});

const writeTorch = (name = 'pytorch_model.bin'): void =>
  writeFileSync(
    join(folder, name),
    torchZip(orderedDict([['a', tensor({ numValues: 1, shape: [1] })]]), { 0: floats(2) }),
  );
const writeSafe = (): Promise<void> =>
  writeSafetensors(join(folder, 'model.safetensors'), [
    { name: 'a', dtype: 'F32', shape: [1], values: Float32Array.of(1) },
  ]);

async function valueOfA(): Promise<{ value: number; path: string }> {
  const file = await openTensorFile(folder);
  try {
    return { value: (await file.readFloat32('a'))[0], path: file.path };
  } finally {
    await file.close();
  }
}

describe('openTensorFile', () => {
  it('prefers model.safetensors to pytorch_model.bin, and takes either alone', async () => {
    writeTorch();
    expect(await valueOfA()).toEqual({ value: 2, path: join(folder, 'pytorch_model.bin') });
    await writeSafe();
    expect(await valueOfA()).toEqual({ value: 1, path: join(folder, 'model.safetensors') });
  });

  it('follows links to the file itself', async () => {
    writeTorch('blob');
    symlinkSync('blob', join(folder, 'pytorch_model.bin'));
    expect(await valueOfA()).toEqual({ value: 2, path: join(folder, 'blob') });
  });

  it('names a link that leads nowhere', async () => {
    symlinkSync('gone', join(folder, 'model.safetensors'));
    await expect(openTensorFile(folder)).rejects.toThrow(/model\.safetensors is a link that leads nowhere/);
  });

  it('refuses weights that are split, and says how to save them in one file', async () => {
    writeTorch();
    renameSync(join(folder, 'pytorch_model.bin'), join(folder, 'pytorch_model-00001-of-00002.bin'));
    writeFileSync(join(folder, 'pytorch_model.bin.index.json'), '{}');
    const failure = openTensorFile(folder);
    await expect(failure).rejects.toThrow(CheckpointError);
    await expect(failure).rejects.toMatchObject({
      message: expect.stringContaining('pytorch_model.bin.index.json: the weights are split'),
      hint: expect.stringContaining('max_shard_size'),
    });
  });

  it.each(['tf_model.h5', 'flax_model.msgpack'])('says of %s that it is of another framework', async (name) => {
    writeFileSync(join(folder, name), '');
    await expect(openTensorFile(folder)).rejects.toMatchObject({
      message: expect.stringContaining(`${name}: weights of TensorFlow or Flax`),
      hint: expect.stringContaining('from_tf=True'),
    });
  });

  it('lists what is there where no weights are', async () => {
    await expect(openTensorFile(folder)).rejects.toThrow(
      /neither model\.safetensors nor pytorch_model\.bin: it is empty/,
    );
    for (let i = 0; i < 15; i++) writeFileSync(join(folder, `file-${i}`), '');
    await expect(openTensorFile(folder)).rejects.toThrow(/there are file-0, file-1, .* and 3 more/);
    await expect(openTensorFile(join(folder, 'no'))).rejects.toThrow(/cannot read the folder/);
  });
});
