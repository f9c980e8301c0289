/** What tests of files of torch.save have in common: such a file in a folder of its own, and what is read from it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { CheckpointError } from '../../src/core/index.ts';
import type { TensorFile } from '../../src/model/tensors/tensor-file.ts';
import { openTorchFile } from '../../src/model/tensors/torch-file.ts';
import type { Python } from './make-pickle.ts';
import { floats, orderedDict, type TensorToDescribe, tensor } from './make-torch.ts';

/** A file of a test. */
export type TorchTestFile = {
  readonly path: string;
  /** Writes the file, opens it, and closes it after use. */
  withFile<T>(bytes: Uint8Array, use: (file: TensorFile) => T | Promise<T>): Promise<T>;
  /** All values of a file. */
  readAll(bytes: Uint8Array): Promise<Map<string, Float32Array>>;
  /** The values of the tensor "a". */
  readA(bytes: Uint8Array): Promise<number[]>;
  /** Expects a CheckpointError that names the file and says this. */
  expectRefusal(bytes: Uint8Array, message: RegExp | string): Promise<void>;
};

/** A file that is gone after the tests. */
export function torchTestFile(): TorchTestFile {
  const folder = mkdtempSync(join(tmpdir(), 'lzero-torch-'));
  const path = join(folder, 'pytorch_model.bin');
  afterAll(() => rmSync(folder, { recursive: true }));

  const withFile: TorchTestFile['withFile'] = async (bytes, use) => {
    writeFileSync(path, bytes);
    const file = await openTorchFile(path);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  };
  const readAll: TorchTestFile['readAll'] = (bytes) =>
    withFile(bytes, async (file) => {
      const values = new Map<string, Float32Array>();
      for (const name of file.tensors.keys()) values.set(name, await file.readFloat32(name));
      return values;
    });
  return {
    path,
    withFile,
    readAll,
    readA: async (bytes) => Array.from((await readAll(bytes)).get('a') ?? []),
    expectRefusal: async (bytes, message) => {
      const failure = readAll(bytes);
      await expect(failure).rejects.toThrow(CheckpointError);
      await expect(failure).rejects.toThrow(message);
      await expect(failure).rejects.toMatchObject({ message: expect.stringContaining(path), hint: expect.any(String) });
    },
  };
}

/** The values that most of these files hold. */
export const six = floats(1, 2, 3, 4, 5, 6);

/** A state_dict of one tensor "a" of six values. */
export function onlyA(described: Partial<TensorToDescribe> = {}): Python {
  return orderedDict([['a', tensor({ numValues: 6, shape: [6], ...described })]]);
}
