/**
 * Networks that exist for a trial only, in a temporary folder: config.json of one and weights of another, or tensors that
 * are not as they were.
 */
import { copyFile, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Checkpoint, WEIGHTS_FILE } from '../checkpoint.ts';
import { MLM_BIAS } from '../tensor-names.ts';
import { type TensorToWrite, writeSafetensors } from '../tensors/safetensors-writer.ts';
import type { Effect } from './report.ts';
import type { Subject } from './subject.ts';

/** What the folder holds. */
export type NetworkParts = {
  /** Text of config.json. */
  readonly config: string;
  /** The file of weights; it keeps its name. */
  readonly weights: string;
};

/** Makes the folder, lets `use` read it, and removes it. */
export async function withMixedNetwork<T>(
  { config, weights }: NetworkParts,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  return await withFolder(async (folder) => {
    await writeFile(join(folder, 'config.json'), config);
    const [target, link] = [await realpath(weights), join(folder, basename(weights))];
    await symlink(target, link).catch(() => copyFile(target, link)); // Windows
    return await use(folder);
  });
}

type Values = Float32Array<ArrayBuffer>;

/** What scores would do if tensors were others; `change` gives undefined for one that is to be missing. */
export async function effectOfTensors(
  subject: Subject,
  checkpoint: Checkpoint,
  change: (name: string, values: Values) => Values | undefined,
): Promise<Effect | undefined> {
  return await withFolder(async (folder) => {
    const tensors: TensorToWrite[] = [];
    for (const name of new Set([...checkpoint.usedNames, MLM_BIAS])) {
      const values = change(name, await checkpoint.read(name));
      if (values) tensors.push({ name, dtype: 'F32', shape: checkpoint.entry(name).shape, values });
    }
    await writeSafetensors(join(folder, WEIGHTS_FILE), tensors);
    await copyFile(join(checkpoint.folder, 'config.json'), join(folder, 'config.json'));
    return await subject.measure({ encoderFolder: folder });
  });
}

async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'lzero-check-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
