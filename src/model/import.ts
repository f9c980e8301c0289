/**
 * Makes a model folder from a Hugging Face checkpoint, or from another model folder with other settings. The folder
 * appears under its name only when it is whole.
 */
import { copyFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CheckpointError, OutputError } from '../core/index.ts';
import type { Tokenizer } from '../text/index.ts';
import { formatIdf } from '../text/index.ts';
import { modelCard } from './card.ts';
import type { Head } from './checkpoint.ts';
import { Checkpoint, WEIGHTS_FILE } from './checkpoint.ts';
import type { TokenIds } from './graph-runner.ts';
import type { CheckpointOptions, ModelFolder } from './model-folder.ts';
import { readIdf, readIfExists, readModelFolder, TOKENIZER_FILES } from './model-folder.ts';
import type { TensorToWrite, WritableDtype } from './safetensors-writer.ts';
import { writeSafetensors } from './safetensors-writer.ts';
import type { BertSettings } from './settings.ts';
import { formatSettings, IDF_FILE, SETTINGS_FILE } from './settings.ts';
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
  /** Replace a folder that is there. */
  readonly force?: boolean | undefined;
};

/** What was made. */
export type ImportReport = {
  readonly settings: BertSettings;
  readonly head: Exclude<Head, 'none'>;
  readonly numCalibrationDocuments?: number | undefined;
};

/** Makes the folder. */
export async function importModel(options: ImportOptions): Promise<ImportReport> {
  const { output, force = false } = options;
  if (!force && (await exists(output))) {
    throw new OutputError(`${output} exists already`, { hint: 'replace it with --force' });
  }
  const temporary = join(dirname(resolve(output)), `.${basename(resolve(output))}.${process.pid}.partial`);
  try {
    await mkdir(temporary, { recursive: true });
    const report = await fill(temporary, options);
    await rm(output, { recursive: true, force: true });
    await rename(temporary, output);
    return report;
  } catch (cause) {
    await rm(temporary, { recursive: true, force: true });
    throw cause instanceof Error && 'syscall' in cause ? OutputError.writing(output, cause) : cause;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function fill(folder: string, options: ImportOptions): Promise<ImportReport> {
  const model = await readSource(options);
  const settings = { ...model.settings, name: basename(resolve(options.output)) };
  const checkpoint = await Checkpoint.open(options.source);
  try {
    const { head, numCalibrationDocuments, added } = await headOf(checkpoint, model.tokenizer, options);
    await writeWeights(join(folder, WEIGHTS_FILE), checkpoint, { added, dtype: options.dtype });
    await copyFiles(options.source, folder);
    if (settings.idf === IDF_FILE) {
      await writeFile(join(folder, IDF_FILE), formatIdf(model.idf, model.tokenizer.vocabulary));
    }
    const { vocabSize } = checkpoint.config;
    await writeFile(join(folder, 'README.md'), modelCard(settings, { head, numCalibrationDocuments, vocabSize }));
    await writeFile(join(folder, SETTINGS_FILE), formatSettings(settings));
    return { settings, head, numCalibrationDocuments };
  } finally {
    await checkpoint.close();
  }
}

/** The source with the options laid over its settings. */
async function readSource(options: ImportOptions): Promise<ModelFolder & { settings: BertSettings }> {
  const { source, activation, encodeLength, prune, idf } = options;
  const isModel = (await readIfExists(join(source, SETTINGS_FILE))) !== undefined;
  const model = await readModelFolder(source, isModel ? {} : { activation, encodeLength, prune, idf });
  if (model.settings.kind !== 'bert') {
    throw new CheckpointError(`${source}: a ${model.settings.kind} model has no checkpoint to import`);
  }
  if (!isModel) return { ...model, settings: model.settings };
  const changes = Object.entries({ activation, encodeLength, prune }).filter(([, value]) => value !== undefined);
  const settings: BertSettings = { ...model.settings, ...Object.fromEntries(changes) };
  if (idf === undefined) return { ...model, settings };
  return {
    ...model,
    settings: { ...settings, idf: idf === 'none' ? 'none' : IDF_FILE },
    idf: await readIdf(idf, model.tokenizer),
  };
}

type HeadReport = {
  readonly head: Exclude<Head, 'none'>;
  readonly numCalibrationDocuments?: number;
  /** Tensors that the source does not have. */
  readonly added: readonly TensorToWrite[];
};

async function headOf(checkpoint: Checkpoint, tokenizer: Tokenizer, options: ImportOptions): Promise<HeadReport> {
  const { source } = options;
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
  const documents = await firstDocuments(options.calibration ?? [], tokenizer, options.encodeLength);
  const head = await calibrateTiedHead(source, documents, neverActive(tokenizer));
  return { head: 'tied', numCalibrationDocuments: documents.length, added: tiedHeadTensors(head) };
}

/** Tokens that a document is cut to while calibrating: the offsets depend little on more. */
const CALIBRATION_LENGTH = 256;

async function firstDocuments(
  texts: AsyncIterable<string> | Iterable<string>,
  tokenizer: Tokenizer,
  encodeLength = CALIBRATION_LENGTH,
): Promise<TokenIds[]> {
  const documents: TokenIds[] = [];
  for await (const text of texts) {
    documents.push(tokenizer.encodeForModel(text, Math.min(encodeLength, CALIBRATION_LENGTH)).ids);
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
    await copyFile(join(checkpoint.folder, WEIGHTS_FILE), path);
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

async function copyFiles(source: string, folder: string): Promise<void> {
  for (const name of ['config.json', ...TOKENIZER_FILES]) {
    const from = join(source, name);
    if (await exists(from)) await copyFile(from, join(folder, name));
  }
}
