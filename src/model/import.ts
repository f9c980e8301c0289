/**
 * Makes a model folder from a folder of any layout: to import it, with other settings where options give them; to quantise
 * it; to convert it into our layout. How the weights get there is write-weights.ts's.
 */
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CheckpointError, ConfigError } from '../core/index.ts';
import { exists, readIfExists, writeFileAtomically } from '../files/index.ts';
import type { Tokenizer } from '../text/index.ts';
import { formatIdf } from '../text/index.ts';
import { CARD_FILE, modelCard, trainingOf } from './card.ts';
import type { Head, OwnHead, TiedKind } from './checkpoint.ts';
import { Checkpoint, missingHead, WEIGHTS_FILE } from './checkpoint.ts';
import { readDenseFolder } from './dense/dense-settings.ts';
import { fitTopicHead, type TermSource } from './fit-topic-head.ts';
import { copyContent, copyFiles, makeFolder } from './folder-output.ts';
import { resolveModel } from './hub/resolve-model.ts';
import type { AskedCodes, MatrixCodes } from './int8/four-bits.ts';
import type { Precision } from './int8/precision.ts';
import { readSourceModel, withOptions } from './layouts/find-layout.ts';
import { graphFiles } from './layouts/network-in.ts';
import type { CheckpointOptions, LayoutName, SourceModel } from './layouts/source-model.ts';
import { MODULES_FILE } from './layouts/st-modules.ts';
import type { LexicalRule } from './lexical.ts';
import type { ModelFolder } from './model-folder.ts';
import { completeModel, TOKENIZER_FILES, withOrigin } from './model-folder.ts';
import type { TokenIds } from './padded-batch.ts';
import type { ModelSettings } from './settings.ts';
import { formatSettings, givesWeights, IDF_FILE, precisionOf, SETTINGS_FILE } from './settings.ts';
import type { TensorToWrite, WritableDtype } from './tensors/safetensors-writer.ts';
import { CALIBRATION_DOCUMENTS, calibrateTiedHead, tiedHeadTensors } from './tied-head.ts';
import { topicHeadTensors } from './topic-head.ts';
import type { WrittenWeights } from './write-weights.ts';
import { hasCodes, writeWeights } from './write-weights.ts';

/** How to make a model folder. */
export type ImportOptions = CheckpointOptions & {
  /** Folder of the checkpoint or model to read, or the name of one that was pulled. */
  readonly source: string;
  /** Folder to make. */
  readonly output: string;
  /** Makes a head: of the word embeddings (tied-head.ts), or fitted to queries; without it the checkpoint must have its own. */
  readonly head?: OwnHead | undefined;
  /** The term vectors of a topic head (topic-head.ts). */
  readonly terms?: TermSource | undefined;
  /** What the words of documents weigh by themselves; as in the source if not given. */
  readonly lexical?: LexicalRule | 'none' | undefined;
  /** Texts to calibrate a head on; the first 120 are read, for a topic head the first 1,000. */
  readonly calibration?: AsyncIterable<string> | Iterable<string> | undefined;
  /** Type of the weights in the file; as in the source if not given. */
  readonly dtype?: WritableDtype | undefined;
  /** Stops the work with `InterruptedError`; nothing is made then. */
  readonly signal?: AbortSignal | undefined;
  /** Told how many documents the calibration has read. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
  /** Replace a model folder that is there. */
  readonly force?: boolean | undefined;
};

/** What was made. */
export type ImportReport = {
  readonly settings: ModelSettings;
  /** What gives the terms their weights; undefined for models without a network of ours. */
  readonly head: Exclude<Head, 'none'> | undefined;
  readonly numCalibrationDocuments?: number | undefined;
  /** Layout of the source. */
  readonly layout: LayoutName;
  /** What was understood of it. */
  readonly notes: readonly string[];
};

/** Makes the folder. Its settings may be others than those that the source fixes. */
export async function importModel(options: ImportOptions): Promise<ImportReport> {
  const { weightBytes: _, codes: _codes, ...report } = await makeModel({ ...options, mayDiffer: true });
  return report;
}

/** How a model folder is made, for whatever reason. */
export type MakeOptions = ImportOptions &
  AskedCodes & {
    /** The arithmetic that it is made for; that of the source if not given. */
    readonly precision?: Precision | undefined;
    /** Whether the model may become another one: with settings that contradict the source, or a head that it lacks. */
    readonly mayDiffer?: boolean | undefined;
  };

/** What was made, and how large the file of weights was and is, where there is one. */
export type MakeReport = ImportReport & {
  /** What matrices are stored in; undefined for floats. */
  readonly codes: MatrixCodes | undefined;
  readonly weightBytes: { readonly source: number; readonly made: number } | undefined;
};

/** Makes a model folder. */
export async function makeModel(options: MakeOptions): Promise<MakeReport> {
  const { output, force, signal } = options;
  const { folder: source, name } = await resolveModel(options.source);
  const place = { inputs: inputsOf(source, options), force, signal };
  return await makeFolder(output, place, (folder) => fill(folder, { ...options, source, name }));
}

/** What is read of the disk: the source, and a table of query weights that is not its own. */
export function inputsOf(source: string, { idf }: CheckpointOptions): string[] {
  return idf === undefined || idf === 'none' ? [source] : [source, idf];
}

type FoundOptions = MakeOptions & {
  /** What a pulled model is called. */
  readonly name: string | undefined;
};

async function fill(folder: string, options: FoundOptions): Promise<MakeReport> {
  const source = await readSource(options);
  const settings = withLexical({ ...source.settings, name: basename(resolve(options.output)) }, options.lexical);
  const network = await fillNetwork(folder, source, options);
  const made = madeSettings(settings, network);
  await copyFiles(source.tokenizerFolder, folder, TOKENIZER_FILES);
  if (made.idf === IDF_FILE) {
    await writeFileAtomically(join(folder, IDF_FILE), formatIdf(source.idf, source.tokenizer.vocabulary));
  }
  const training = options.head === undefined ? await toldTraining(source) : { isUntrained: true };
  const card = modelCard(made, { ...network, ...training, tokenizer: source.tokenizer });
  await writeFileAtomically(join(folder, CARD_FILE), card);
  await writeFileAtomically(join(folder, SETTINGS_FILE), formatSettings(made));
  const { layout } = source;
  const notes = network?.form === 'floats' && network.wasRounded ? [...source.notes, ROUNDED] : source.notes;
  const { head, numCalibrationDocuments, weightBytes, codes } = network ?? {};
  return { settings: made, layout, notes, head, numCalibrationDocuments, weightBytes, codes };
}

/** What the card of a model folder of ours says of its training holds for what is made of it. */
async function toldTraining({ folder, layout }: ModelFolder): Promise<ReturnType<typeof trainingOf>> {
  return layout === 'lzero' ? trainingOf((await readIfExists(join(folder, CARD_FILE))) ?? '') : {};
}

/** Settings with another lexical part. One that encodes queries too has none, and reading it again would refuse it. */
function withLexical(settings: ModelSettings, lexical: ImportOptions['lexical']): ModelSettings {
  if (lexical === undefined || settings.kind !== 'bert') return settings;
  if (lexical !== 'none' && settings.queries === 'encoded')
    throw new ConfigError('the model encodes queries as it does documents, and a lexical part is for documents alone', {
      hint: 'leave out --lexical',
    });
  const { lexical: _, ...rest } = settings;
  return lexical === 'none' ? rest : { ...rest, lexical };
}

const ROUNDED =
  'the weights were codes: as floats they stay rounded, and are run in fp32; import the unquantised source for more';

/** Settings of what was written: a graph lies in the folder itself, and of weights they say whether they are codes. */
function madeSettings(settings: ModelSettings, network: Network | undefined): ModelSettings {
  if (settings.kind === 'onnx') return { ...settings, file: basename(settings.file) };
  if (settings.kind === 'bow' || network?.form === 'copied') return settings;
  const { precision: _, ...floats } = settings;
  return network?.form === 'codes' ? { ...floats, precision: 'int8' } : floats;
}

/** The source with the options laid over its settings. A head of our own takes only the encoder of a dense model. */
async function readSource(options: FoundOptions): Promise<ModelFolder> {
  const found = await readSourceModel(options.source, { ignoreModules: options.head !== undefined });
  refuseForNetworks(found, options);
  refusePrecision(found, options);
  const chosen = withOptions(found, options, { override: options.mayDiffer ?? false });
  return await completeModel(withOrigin(chosen, options.name), options.idf);
}

/** The arithmetic of what we do not look into is its own, and codes are of one type. */
function refusePrecision({ folder, settings }: SourceModel, { precision, dtype }: MakeOptions): void {
  if (precision === 'int8' && dtype !== undefined)
    throw new ConfigError(`weights in 8-bit codes cannot be of type ${dtype}`, { hint: 'leave out one of the two' });
  if (settings.kind === 'bert' || precision === undefined || precision === precisionOf(settings)) return;
  const why = settings.kind === 'bow' ? 'has no network' : 'is an ONNX file, whose arithmetic is its own';
  throw new ConfigError(`${folder}: the model ${why}, so there are no weights to write as ${precision}`, {
    hint: 'begin with the checkpoint that it was made from',
  });
}

/** What a model that has no network of ours cannot be given. */
function refuseForNetworks({ folder, settings, asked }: SourceModel, options: ImportOptions): void {
  if (settings.kind === 'bert') return;
  const { encodeLength, head, dtype, lexical } = options;
  const isInside = givesWeights(settings) && asked === undefined;
  const activation = settings.kind === 'bow' || isInside ? options.activation : undefined;
  const shared = { activation, head, dtype, lexical };
  const ours = settings.kind === 'onnx' ? shared : { ...shared, encodeLength };
  const given = Object.entries(ours).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0) return;
  const [why, also] = settings.kind === 'onnx' ? ['is run as it is', '--encode-length, '] : ['has no network', ''];
  throw new ConfigError(`${folder}: a ${settings.kind} model ${why}, so it takes no ${given.join(', ')}`, {
    hint: `only ${also}--idf and --prune can be changed`,
  });
}

type Network = Omit<HeadReport, 'added'> &
  Required<Pick<MakeReport, 'weightBytes'>> &
  WrittenWeights & {
    /** Whether the weights were rounded to codes before. */
    readonly wasRounded: boolean;
  };

/** The network's files. */
async function fillNetwork(folder: string, source: ModelFolder, options: MakeOptions): Promise<Network | undefined> {
  const { settings, encoderFolder } = source;
  if (settings.kind === 'bow') return undefined;
  await copyFiles(encoderFolder, folder, ['config.json']);
  if (settings.kind === 'onnx') {
    for (const path of await graphFiles(join(encoderFolder, settings.file)))
      await copyContent(path, join(folder, basename(path)));
    return undefined;
  }
  const checkpoint = await Checkpoint.open(encoderFolder, { signal: options.signal });
  try {
    const { added, ...network } = await headOf(checkpoint, source, options);
    const { dtype, precision, tables, feedForward } = options;
    const path = join(folder, WEIGHTS_FILE);
    const written = await writeWeights(path, checkpoint, { added, dtype, precision, tables, feedForward });
    const [before, after] = await Promise.all([checkpoint.weightsPath, path].map((file) => stat(file)));
    return {
      ...network,
      ...written,
      wasRounded: hasCodes(checkpoint),
      weightBytes: { source: before.size, made: after.size },
    };
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
  model: ModelFolder,
  { head, mayDiffer, ...options }: MakeOptions,
): Promise<HeadReport> {
  const { source } = options;
  if (head === undefined) {
    if (checkpoint.head !== 'none') return { head: checkpoint.head, added: [] };
    throw missingHead(source, mayDiffer ? 'add' : `lzero model import ${source} -o MODEL`);
  }
  if (checkpoint.head === 'mlm') {
    throw new CheckpointError(`${source}: the checkpoint has an MLM head of its own, which another one would hide`, {
      hint: `leave out --head ${head}`,
    });
  }
  if (head === 'topic') return await topicHeadOf(checkpoint, model, options);
  return await tiedHeadOf(checkpoint, model, { ...options, source, head });
}

async function topicHeadOf(
  checkpoint: Checkpoint,
  { settings, tokenizer, idf }: ModelFolder,
  { terms, ...options }: MakeOptions,
): Promise<HeadReport> {
  if (terms === undefined)
    throw new ConfigError('a topic head is fitted to queries, and there are none', { hint: 'use --head pooled' });
  const documents = await firstDocuments(options.calibration ?? [], {
    tokenizer,
    maxLength: calibrationLength(settings),
    count: TOPIC_DOCUMENTS,
  });
  const { signal, onProgress } = options;
  const excluded = neverActive(tokenizer, checkpoint.config.vocabSize);
  const made = await fitTopicHead(checkpoint, {
    terms,
    querySide: { tokenizer, idf },
    documents,
    excluded,
    signal,
    onProgress,
  });
  return { head: 'topic', numCalibrationDocuments: documents.length, added: topicHeadTensors(made) };
}

async function tiedHeadOf(
  checkpoint: Checkpoint,
  { settings, tokenizer }: ModelFolder,
  { source, head, ...options }: MakeOptions & { readonly head: TiedKind },
): Promise<HeadReport> {
  const documents = await firstDocuments(options.calibration ?? [], {
    tokenizer,
    maxLength: calibrationLength(settings),
    count: CALIBRATION_DOCUMENTS,
  });
  const { signal, onProgress } = options;
  const excluded = neverActive(tokenizer, checkpoint.config.vocabSize);
  const pooledFrame = head === 'pooled' ? tokenizer.frame : undefined;
  if (pooledFrame) await refuseOtherPooling(source);
  const made = await calibrateTiedHead(checkpoint.folder, documents, { pooledFrame, excluded, signal, onProgress });
  return { head, numCalibrationDocuments: documents.length, added: tiedHeadTensors(made) };
}

/** Tokens that a document is cut to while calibrating: the offsets depend little on more. */
const CALIBRATION_LENGTH = 256;
/** Documents that the thresholds of a topic head are set on at most. */
const TOPIC_DOCUMENTS = 1_000;

function calibrationLength(settings: ModelSettings): number {
  return settings.kind === 'bow' ? CALIBRATION_LENGTH : Math.min(settings.encodeLength, CALIBRATION_LENGTH);
}

async function firstDocuments(
  texts: AsyncIterable<string> | Iterable<string>,
  {
    tokenizer,
    maxLength,
    count,
  }: { readonly tokenizer: Tokenizer; readonly maxLength: number; readonly count: number },
): Promise<TokenIds[]> {
  const documents: TokenIds[] = [];
  for await (const text of texts) {
    documents.push(tokenizer.encodeForModel(text, maxLength).ids);
    if (documents.length === count) break;
  }
  return documents;
}

/** A mean that an encoder was not trained for tells nothing of a text. */
async function refuseOtherPooling(source: string): Promise<void> {
  const { folder } = await resolveModel(source);
  if (!(await exists(join(folder, MODULES_FILE)))) return;
  const { pooling } = (await readDenseFolder(folder)).settings;
  if (pooling === 'mean') return;
  throw new ConfigError(
    `${source} is pooled by ${pooling}: its mean state, which a pooled head reads, was not trained`,
    {
      hint: 'use --head tied',
    },
  );
}

/** Special tokens, BERT's unused ones, and rows beyond the tokenizer: no query can ask for them. */
function neverActive({ vocabulary }: Tokenizer, numRows: number): ReadonlySet<number> {
  const unused = vocabulary.tokens.flatMap((token, id) => (/^\[unused\d+\]$/.test(token) ? [id] : []));
  const fillers = Array.from({ length: Math.max(0, numRows - vocabulary.size) }, (_, i) => vocabulary.size + i);
  return new Set([...vocabulary.specialIds, ...unused, ...fillers]);
}
