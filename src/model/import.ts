/**
 * Makes a model folder from a Hugging Face checkpoint, or from another model folder with other settings. The folder
 * appears under its name only when it is whole, and replaces nothing but another model folder.
 */
import { chmod, copyFile, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CheckpointError, ConfigError, messageOf, OutputError } from '../core/index.ts';
import { exists, refuseInputAsOutput, syncFolder, writeFileAtomically } from '../files/index.ts';
import type { Tokenizer } from '../text/index.ts';
import { formatIdf } from '../text/index.ts';
import { modelCard } from './card.ts';
import type { Head } from './checkpoint.ts';
import { Checkpoint, WEIGHTS_FILE } from './checkpoint.ts';
import type { TokenIds } from './graph-runner.ts';
import type { CheckpointOptions, ModelFolder } from './model-folder.ts';
import { checkFit, readIdf, readModelFolder, TOKENIZER_FILES } from './model-folder.ts';
import type { BertSettings, ModelSettings } from './settings.ts';
import { formatSettings, IDF_FILE, SETTINGS_FILE } from './settings.ts';
import type { TensorToWrite, WritableDtype } from './tensors/safetensors-writer.ts';
import { writeSafetensors } from './tensors/safetensors-writer.ts';
import { CALIBRATION_DOCUMENTS, calibrateTiedHead, tiedHeadTensors } from './tied-head.ts';

/** How to make a model folder. */
export type ImportOptions = CheckpointOptions & {
  /** Folder of the checkpoint or model to read. */
  readonly source: string;
  /** Folder to make. */
  readonly output: string;
  /** `tied` makes a head from the word embeddings; without it the checkpoint must have its own. */
  readonly head?: 'tied' | undefined;
  /** Texts to calibrate a tied head on; the first 120 are read. */
  readonly calibration?: AsyncIterable<string> | Iterable<string> | undefined;
  /** Type of the weights in the file; as in the source if not given. */
  readonly dtype?: WritableDtype | undefined;
  /** Stops the calibration with `InterruptedError`. */
  readonly signal?: AbortSignal | undefined;
  /** Told how many documents the calibration has read. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
  /** Replace a model folder that is there. */
  readonly force?: boolean | undefined;
};

/** What was made. */
export type ImportReport = {
  readonly settings: ModelSettings;
  /** What gives the terms their weights; undefined for models without a network. */
  readonly head: Exclude<Head, 'none'> | undefined;
  readonly numCalibrationDocuments?: number | undefined;
};

/** Makes the folder. */
export async function importModel(options: ImportOptions): Promise<ImportReport> {
  const output = resolve(options.output);
  await refuseInputAsOutput(output, [options.source]);
  await refuseExisting(output, options.force);
  const temporary = join(dirname(output), `.${basename(output)}.${process.pid}.partial`);
  try {
    await mkdir(temporary, { recursive: true });
    const report = await fill(temporary, options);
    await putInPlace(temporary, output);
    return report;
  } catch (cause) {
    await rm(temporary, { recursive: true, force: true });
    throw cause instanceof Error && 'syscall' in cause ? OutputError.writing(options.output, cause) : cause;
  }
}

/** A folder that is not a model's is never replaced: `-o .` must not cost anybody their files. */
async function refuseExisting(output: string, force = false): Promise<void> {
  if (!(await exists(output))) return;
  if (!force) throw new OutputError(`${output} exists already`, { hint: 'replace it with --force' });
  if (await exists(join(output, SETTINGS_FILE))) return;
  throw new OutputError(`${output} is not a model folder, so it is not replaced`, { hint: 'name another folder' });
}

/** The old folder steps aside until the new one has its name, and steps back where that fails. */
export async function putInPlace(temporary: string, output: string): Promise<void> {
  await syncFolder(temporary);
  const aside = `${temporary}.old`;
  const replaces = await exists(output);
  if (replaces) await rename(output, aside);
  try {
    await rename(temporary, output);
  } catch (cause) {
    if (replaces) await stepBack(aside, output);
    throw cause;
  }
  await syncFolder(dirname(output));
  if (replaces) await rm(aside, { recursive: true, force: true });
}

async function stepBack(aside: string, output: string): Promise<void> {
  await rename(aside, output).catch((cause: unknown) => {
    const hint = `the model that was to be replaced is in ${aside}: move it back`;
    throw new OutputError(`cannot write ${output}: ${messageOf(cause)}`, { cause, hint });
  });
}

async function fill(folder: string, options: ImportOptions): Promise<ImportReport> {
  const source = await readSource(options);
  const settings = { ...source.settings, name: basename(resolve(options.output)) };
  const model = { ...source, settings };
  const network = settings.kind === 'bert' ? await fillNetwork(folder, model, { ...options, settings }) : undefined;
  await copyFiles(options.source, folder, TOKENIZER_FILES);
  if (settings.idf === IDF_FILE) {
    await writeFileAtomically(join(folder, IDF_FILE), formatIdf(model.idf, model.tokenizer.vocabulary));
  }
  await writeFileAtomically(join(folder, 'README.md'), modelCard(settings, { ...network, tokenizer: model.tokenizer }));
  await writeFileAtomically(join(folder, SETTINGS_FILE), formatSettings(settings));
  return { settings, head: network?.head, numCalibrationDocuments: network?.numCalibrationDocuments };
}

/** The source with the options laid over its settings. */
async function readSource(options: ImportOptions): Promise<ModelFolder> {
  const { source, activation, encodeLength, prune, idf } = options;
  if (!(await exists(join(source, SETTINGS_FILE)))) {
    return readModelFolder(source, { activation, encodeLength, prune, idf });
  }
  const model = await readModelFolder(source);
  const settings = changed(model, options);
  checkFit({ ...model, settings });
  return { ...model, settings, idf: idf === undefined ? model.idf : await readIdf(idf, model.tokenizer) };
}

/** A model folder's settings with those options that are given. */
function changed({ folder, settings }: ModelFolder, options: ImportOptions): ModelSettings {
  const { activation, encodeLength, prune = settings.prune, idf } = options;
  const own = { prune, idf: idf === undefined ? settings.idf : idf === 'none' ? ('none' as const) : IDF_FILE };
  if (settings.kind === 'bert') {
    const network = {
      activation: activation ?? settings.activation,
      encodeLength: encodeLength ?? settings.encodeLength,
    };
    return { ...settings, ...own, ...network };
  }
  const forNetworks = Object.entries({ activation, encodeLength, head: options.head, dtype: options.dtype });
  const given = forNetworks.filter(([, value]) => value !== undefined).map(([name]) => name);
  if (given.length === 0) return { ...settings, ...own };
  throw new ConfigError(`${folder}: a ${settings.kind} model has no network, so it takes no ${given.join(', ')}`, {
    hint: 'only --idf and --prune can be changed',
  });
}

type Network = Omit<HeadReport, 'added'>;

/** The network's files. */
async function fillNetwork(
  folder: string,
  { tokenizer }: ModelFolder,
  options: ImportOptions & { readonly settings: BertSettings },
): Promise<Network> {
  const checkpoint = await Checkpoint.open(options.source);
  try {
    const { added, ...network } = await headOf(checkpoint, tokenizer, options);
    await writeWeights(join(folder, WEIGHTS_FILE), checkpoint, { added, dtype: options.dtype });
    await copyFiles(options.source, folder, ['config.json']);
    return network;
  } finally {
    await checkpoint.close();
  }
}

type HeadReport = {
  readonly head: Exclude<Head, 'none'>;
  readonly numCalibrationDocuments?: number;
  /** Tensors that the source does not have. */
  readonly added: readonly TensorToWrite[];
};

async function headOf(
  checkpoint: Checkpoint,
  tokenizer: Tokenizer,
  options: ImportOptions & { readonly settings: BertSettings },
): Promise<HeadReport> {
  const { source, settings } = options;
  if (options.head !== 'tied') {
    if (checkpoint.head !== 'none') return { head: checkpoint.head, added: [] };
    throw new CheckpointError(`${source}: the checkpoint has no MLM head, so it gives no weights for terms`, {
      hint: 'make one from its word embeddings: add --head tied --calibrate INPUT',
    });
  }
  if (checkpoint.head === 'mlm') {
    throw new CheckpointError(`${source}: the checkpoint has an MLM head of its own; a tied head would hide it`, {
      hint: 'leave out --head tied',
    });
  }
  const maxLength = Math.min(settings.encodeLength, CALIBRATION_LENGTH);
  const documents = await firstDocuments(options.calibration ?? [], tokenizer, maxLength);
  const { signal, onProgress } = options;
  const head = await calibrateTiedHead(source, documents, { excluded: neverActive(tokenizer), signal, onProgress });
  return { head: 'tied', numCalibrationDocuments: documents.length, added: tiedHeadTensors(head) };
}

/** Tokens that a document is cut to while calibrating: the offsets depend little on more. */
const CALIBRATION_LENGTH = 256;

async function firstDocuments(
  texts: AsyncIterable<string> | Iterable<string>,
  tokenizer: Tokenizer,
  maxLength: number,
): Promise<TokenIds[]> {
  const documents: TokenIds[] = [];
  for await (const text of texts) {
    documents.push(tokenizer.encodeForModel(text, maxLength).ids);
    if (documents.length === CALIBRATION_DOCUMENTS) break;
  }
  return documents;
}

/** Special tokens and BERT's unused ones: no query can ask for them. */
function neverActive({ vocabulary }: Tokenizer): ReadonlySet<number> {
  const unused = vocabulary.tokens.flatMap((token, id) => (/^\[unused\d+\]$/.test(token) ? [id] : []));
  return new Set([...vocabulary.specialIds, ...unused]);
}

const SOURCE_DTYPES: readonly string[] = ['F32', 'F16', 'BF16'] satisfies WritableDtype[];

/** Copies the source's weights, rewritten where something is added or the type changes. */
async function writeWeights(
  path: string,
  checkpoint: Checkpoint,
  { added, dtype }: { added: readonly TensorToWrite[]; dtype: WritableDtype | undefined },
): Promise<void> {
  if (added.length === 0 && dtype === undefined) {
    await copyContent(join(checkpoint.folder, WEIGHTS_FILE), path);
    return;
  }
  const replaced = new Set(added.map(({ name }) => name));
  const tensors: TensorToWrite[] = [...added];
  for (const name of checkpoint.usedNames.filter((used) => !replaced.has(used))) {
    const entry = checkpoint.entry(name);
    const own = isWritable(entry.dtype) ? entry.dtype : 'F32';
    tensors.push({ name, dtype: dtype ?? own, shape: entry.shape, values: await checkpoint.read(name) });
  }
  await writeSafetensors(path, tensors, { format: 'pt' });
}

function isWritable(dtype: string): dtype is WritableDtype {
  return SOURCE_DTYPES.includes(dtype);
}

async function copyFiles(source: string, folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const from = join(source, name);
    if (await exists(from)) await copyContent(from, join(folder, name));
  }
}

/** Copies a file and forces it to disk, but not who may read it: that is as for any new file, also where the source was read-only or private. */
async function copyContent(from: string, to: string): Promise<void> {
  await writeFile(to, '');
  const { mode } = await stat(to);
  await copyFile(from, to);
  await chmod(to, mode);
  const handle = await open(to, 'r+'); // Windows syncs only what may be written
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
