/** Which layout a folder has, and the settings that options add to what the layout leaves open. */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CheckpointError, ConfigError } from '../../core/index.ts';
import { exists } from '../../files/index.ts';
import type { ModelSettings } from '../settings.ts';
import { IDF_FILE, SETTINGS_FILE } from '../settings.ts';
import { readSmallFile } from './module-files.ts';
import { GRAPHS } from './network-in.ts';
import { readLzero } from './read-lzero.ts';
import { readOpensearch } from './read-opensearch.ts';
import { readSentenceTransformers } from './read-sentence-transformers.ts';
import { readTransformers } from './read-transformers.ts';
import type { CheckpointOptions, OptionName, SourceModel } from './source-model.ts';
import { MODULES_FILE } from './st-modules.ts';

const WHAT_TO_GIVE =
  'give a model folder made by lzero, a Hugging Face checkpoint, a sentence-transformers SparseEncoder, or an ONNX file with its tokenizer';

/** Files by which a folder without lzero.json and modules.json is known. */
const NETWORK_FILES = ['config.json', ...GRAPHS];

/**
 * What a folder says, whatever its layout.
 *
 * @param ignoreModules read only the checkpoint beside modules.json, for models that are to get another head
 */
export async function readSourceModel(
  folder: string,
  { ignoreModules = false }: { ignoreModules?: boolean } = {},
): Promise<SourceModel> {
  await requireFolder(folder);
  const settings = await readSmallFile(join(folder, SETTINGS_FILE));
  if (settings !== undefined) return readLzero(folder, settings);
  if (!ignoreModules && (await readSmallFile(join(folder, MODULES_FILE))) !== undefined)
    return await readSentenceTransformers(folder);
  for (const name of NETWORK_FILES)
    if (await exists(join(folder, name))) return (await readOpensearch(folder)) ?? (await readTransformers(folder));
  throw new CheckpointError(
    `${folder}: neither ${SETTINGS_FILE}, ${MODULES_FILE}, config.json nor model.onnx is there`,
    {
      hint: WHAT_TO_GIVE,
    },
  );
}

/** Refuses what is not a folder. */
export async function requireFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch(() => undefined);
  if (stats?.isDirectory()) return;
  throw new CheckpointError(`${folder || '""'} ${stats ? 'is not a folder' : 'does not exist'}`, {
    hint: stats ? `name its folder: ${dirname(folder)}` : WHAT_TO_GIVE,
  });
}

/**
 * The model with options for what it leaves open. Options that contradict its files would make other vectors under the
 * same name: they are refused, unless another model is being made.
 */
export function withOptions(
  source: SourceModel,
  options: CheckpointOptions,
  { override = false }: { override?: boolean } = {},
): SourceModel {
  const { folder, settings, asked = new Map<OptionName, string>() } = source;
  if (!override) refuseContradictions(source, options);
  for (const [name, reason] of asked)
    if (options[name] === undefined)
      throw new ConfigError(`${folder}: the ${name} is not known: ${reason}`, { hint: `say it with --${name}` });
  return { ...source, settings: changedSettings(settings, options) };
}

/** Refuses options that contradict what the files of a model fix. */
export function refuseContradictions(source: SourceModel, options: CheckpointOptions): void {
  const { folder, fixed } = source;
  const refused = contradicting(source, options);
  if (refused.length === 0) return;
  const places = [...new Set(refused.map((name) => fixed.get(name)))].join(' and ');
  throw new ConfigError(`${folder}: ${refused.join(', ')} cannot be changed from outside, ${places} fixes it`, {
    hint: `make another model with other settings: lzero model import ${folder} -o NEW_MODEL …`,
  });
}

/** Those of the options that say what the files of a model leave open. */
export function openOptions({ fixed }: SourceModel, options: CheckpointOptions): CheckpointOptions {
  const { activation, encodeLength, prune, idf } = options;
  return {
    ...(!fixed.has('activation') && { activation }),
    ...(!fixed.has('encodeLength') && { encodeLength }),
    ...(!fixed.has('prune') && { prune }),
    ...(!fixed.has('idf') && { idf }),
  };
}

function contradicting({ fixed, settings }: SourceModel, options: CheckpointOptions): OptionName[] {
  const said: Readonly<Record<string, unknown>> = settings;
  return [...fixed.keys()].filter((name) => {
    const value = options[name];
    if (value === undefined) return false;
    // Another table may have the name of the model's own.
    if (name === 'idf') return value !== 'none' || said.idf !== 'none';
    return JSON.stringify(value) !== JSON.stringify(said[name]);
  });
}

/** Settings with those options that are given. A model without a network has neither activation nor length. */
function changedSettings(settings: ModelSettings, options: CheckpointOptions): ModelSettings {
  const { prune = settings.prune, idf } = options;
  const shared = { prune, idf: idf === undefined ? settings.idf : idf === 'none' ? ('none' as const) : IDF_FILE };
  if (settings.kind === 'bow') return { ...settings, ...shared };
  const { activation = settings.activation, encodeLength = settings.encodeLength } = options;
  return { ...settings, activation, encodeLength, ...shared };
}
