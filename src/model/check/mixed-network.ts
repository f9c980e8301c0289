/** A network that exists for a trial only: config.json of one and weights of another, side by side in a folder. */
import { copyFile, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

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
  const folder = await mkdtemp(join(tmpdir(), 'lzero-check-'));
  try {
    await writeFile(join(folder, 'config.json'), config);
    const [target, link] = [await realpath(weights), join(folder, basename(weights))];
    await symlink(target, link).catch(() => copyFile(target, link)); // Windows
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
