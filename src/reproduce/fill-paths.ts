/**
 * A scale with paths in place of names, written down as it is run:
 *
 *     FOLDER/configs/     scale.yaml and train.yaml as they come with the package, sweeps with paths filled in
 *     FOLDER/data/        what the scale needs
 *     FOLDER/sweep/       points and results of all sweeps, as `lzero sweep` leaves them
 *     FOLDER/commands.txt what was run, for the report
 *
 * so `lzero sweep FOLDER/configs/table2.yaml -o FOLDER/sweep` does by hand what `lzero reproduce table2` does.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../config/index.ts';
import { makeFolder, writeFileAtomically } from '../files/index.ts';
import type { Settings } from '../sweep/index.ts';
import { trainConfigSchema } from '../train/index.ts';
import { bySweep, readScale, type Scale, SWEEPS } from './scale.ts';

/** Where the parts of a reproduction lie. */
export type Places = {
  readonly configs: string;
  readonly data: string;
  readonly sweep: string;
  /** BM25 on the sets, a file each. */
  readonly bm25: string;
  /** Commands that were run, a line each. */
  readonly commands: string;
};

/** The places of a reproduction's folder. */
export function placesOf(folder: string): Places {
  const [configs, data, sweep, bm25, commands] = ['configs', 'data', 'sweep', 'bm25', 'commands.txt'].map((name) =>
    join(folder, name),
  );
  return { configs, data, sweep, bm25, commands };
}

/**
 * A scale with paths in its sweeps; nothing is written.
 *
 * @param source folder of the scale's configurations
 * @param paths of what the scale needs, by the names that configurations call it
 */
export async function fillPaths(source: string, paths: ReadonlyMap<string, string>): Promise<Scale> {
  const scale = await readScale(source);
  const set = await filledSettings(scale.train, paths);
  const measure = scale.config.sets.map(({ collection, split, dropIdenticalIds }) => ({
    collection: paths.get(collection) ?? collection,
    split,
    maxQueries: null,
    maxDocuments: null,
    ...(dropIdenticalIds !== undefined && { dropIdenticalIds }),
  }));
  const sweeps = bySweep((name) => {
    const sweep = scale.sweeps[name];
    return { ...sweep, base: scale.train, set: { ...sweep.set, ...set }, measure };
  });
  return { ...scale, sweeps };
}

/** Writes the configurations of a scale with paths into a reproduction's folder, each at once: another process may read them. */
export async function writeConfigs(source: string, folder: string, { sweeps }: Scale): Promise<Scale> {
  const { configs } = placesOf(folder);
  makeFolder(configs);
  for (const name of ['scale.yaml', 'train.yaml'])
    await writeFileAtomically(join(configs, name), await readFile(join(source, name)));
  for (const name of SWEEPS) {
    const filled = { ...sweeps[name], base: join(configs, 'train.yaml') };
    await writeFileAtomically(join(configs, `${name}.yaml`), formatSweep(filled)); // JSON is YAML
  }
  return await readScale(configs);
}

function formatSweep(sweep: object): string {
  return `# Filled in by lzero reproduce.\n${JSON.stringify(sweep, undefined, 2)}\n`;
}

/** Settings of a training configuration that name what a scale needs. */
async function filledSettings(train: string, paths: ReadonlyMap<string, string>): Promise<Settings> {
  const { model, data, idf } = await loadConfig(train, trainConfigSchema);
  const named = {
    'model.base': model.base,
    'data.train': data.train,
    'data.collection': data.collection,
    'idf.source': idf.source,
  };
  const filled: Record<string, string> = {};
  for (const [key, name] of Object.entries(named)) {
    const path = typeof name === 'string' ? paths.get(name) : undefined;
    if (path !== undefined) filled[key] = path;
  }
  return filled;
}
