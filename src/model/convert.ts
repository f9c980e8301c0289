/**
 * A model of any layout in another one: ours, sentence-transformers', OpenSearch's, or an ONNX file. What the layout
 * cannot carry is refused, or left out where the caller says so; the vectors are the same otherwise. How each layout is
 * written is layouts/write-*.ts's.
 */
import { basename, resolve } from 'node:path';
import { ConfigError } from '../core/index.ts';
import type { CheckTexts } from './check/tricky-texts.ts';
import { Checkpoint, isOwnHead, missingHead, type OwnHead } from './checkpoint.ts';
import { makeFolder } from './folder-output.ts';
import { resolveModel } from './hub/resolve-model.ts';
import { inputsOf, makeModel } from './import.ts';
import type { Precision } from './int8/precision.ts';
import type { Droppable, ForeignLayout } from './layouts/losses.ts';
import { lossesOf, refuseLosses, withoutLosses } from './layouts/losses.ts';
import type { CheckpointOptions } from './layouts/source-model.ts';
import { writeOnnxFolder } from './layouts/write-onnx.ts';
import { writeOpenSearch } from './layouts/write-opensearch.ts';
import type { Backend, ForeignModel } from './layouts/write-sentence-transformers.ts';
import { writeSentenceTransformers } from './layouts/write-sentence-transformers.ts';
import type { ModelFolder } from './model-folder.ts';
import { readModelFolder, weightNotes } from './model-folder.ts';
import { readingLosses } from './reading-losses.ts';
import type { BertSettings, ModelSettings } from './settings.ts';
import { precisionOf } from './settings.ts';

/** Layouts that are written. */
export const TARGET_LAYOUTS = ['lzero', 'sentence-transformers', 'opensearch', 'onnx'] as const;
/** Name of a layout that is written. */
export type TargetLayout = (typeof TARGET_LAYOUTS)[number];

/** How to convert a model. */
export type ConvertOptions = CheckpointOptions & {
  /** Folder or name of the model to read. */
  readonly source: string;
  /** Folder to make. */
  readonly output: string;
  readonly to: TargetLayout;
  /** The arithmetic of the result; that of the source if not given. int8 goes into our own folders and ONNX files. */
  readonly precision?: Precision | undefined;
  /** What runs the network in sentence-transformers; torch if not given, or onnx where torch cannot. */
  readonly backend?: Backend | undefined;
  /** What the names of an ONNX file's inputs begin with, for programs that feed others; nothing where left out. */
  readonly inputPrefix?: string | undefined;
  /** What may be left out where the layout has no place for it. */
  readonly drop?: readonly Droppable[] | undefined;
  /** Replace a model folder that is there. */
  readonly force?: boolean | undefined;
  /** Texts on which it is measured what the conversion changes for those who read the source, besides the kit's own. */
  readonly texts?: CheckTexts | undefined;
  /** Stops the work with `InterruptedError`; nothing is made then. */
  readonly signal?: AbortSignal | undefined;
};

/** What was made. */
export type ConvertReport = {
  readonly layout: TargetLayout;
  /** The settings of what was made. */
  readonly settings: ModelSettings;
  readonly precision: Precision;
  /** What was left out. */
  readonly dropped: readonly Droppable[];
  /** What a user of the result must know, in words. */
  readonly notes: readonly string[];
};

/** Makes the folder. */
export async function convertModel(options: ConvertOptions): Promise<ConvertReport> {
  const { to } = options;
  return to === 'lzero' ? await toOwnLayout(options) : await toForeignLayout({ ...options, to });
}

/** Our own layout carries all settings and names no program that would run the network. */
async function toOwnLayout({ backend, drop = [], ...options }: ConvertOptions): Promise<ConvertReport> {
  const { to } = options;
  if (backend !== undefined) throw noBackend(to);
  const { model } = await readSource(options);
  const losses = await readingLosses(model, options);
  const dropped = losses.map(({ name }) => name);
  const kept = drop.filter((name) => !dropped.includes(name));
  if (kept.length > 0)
    throw new ConfigError(`the layout ${to} can carry all of it: there is no ${kept.join(', ')} to be left out`, {
      hint: 'leave it out of --drop; lzero model import makes a model with other settings',
    });
  refuseLosses(losses, { to, drop });
  const { settings } = await makeModel(options);
  return { layout: to, settings, precision: precisionOf(settings), dropped, notes: changesOf(model) };
}

async function readSource(options: ConvertOptions): Promise<{ readonly folder: string; readonly model: ModelFolder }> {
  const { folder, name } = await resolveModel(options.source);
  return { folder, model: await readModelFolder(folder, options, name) };
}

function noBackend(to: TargetLayout): ConfigError {
  return new ConfigError(`the layout ${to} has no choice of backend`, { hint: 'leave out --backend' });
}

type ForeignOptions = ConvertOptions & { readonly to: ForeignLayout };

async function toForeignLayout(options: ForeignOptions): Promise<ConvertReport> {
  const { output, to, force, signal } = options;
  const source = await readSource(options);
  const settings = networkSettings(source.model, to);
  const place = { inputs: inputsOf(source.folder, options), force, signal };
  return await makeFolder(output, place, (folder) => fill(folder, { ...source.model, settings }, options));
}

/** A model with a network that we can look into. */
type NetworkModel = ModelFolder & { readonly settings: BertSettings };

async function fill(folder: string, model: NetworkModel, options: ForeignOptions): Promise<ConvertReport> {
  const { output, to, drop = [], backend, signal } = options;
  const losses = [...lossesOf(model.settings, to), ...(await readingLosses(model, options))];
  refuseLosses(losses, { to, drop });
  const dropped = losses.map(({ name }) => name);
  const { precision = precisionOf(model.settings) } = options;
  const { precision: _, ...left } = withoutLosses(model.settings, losses);
  const settings = { ...left, name: basename(resolve(output)) };
  const checkpoint = await Checkpoint.open(model.encoderFolder, { signal });
  try {
    const plan = { ...planOf(checkpoint, { to, precision, backend }), inputPrefix: options.inputPrefix };
    await writeLayout(folder, { ...model, settings, checkpoint, precision }, plan);
    const notes = [...changesOf(model), ...notesOf(plan, { settings, precision }), ...needless(drop, dropped, to)];
    return { layout: to, settings, precision, dropped, notes };
  } finally {
    await checkpoint.close();
  }
}

/** Others know only networks that we can look into. */
function networkSettings({ folder, settings }: ModelFolder, to: ForeignLayout): BertSettings {
  if (settings.kind === 'bert') return settings;
  const why = settings.kind === 'bow' ? 'has no network' : 'is an ONNX file, into which nobody can look';
  throw new ConfigError(`${folder}: the model ${why}, so it cannot be written as ${to}`, {
    hint: settings.kind === 'bow' ? 'only --to lzero can carry it' : 'convert the checkpoint that it was made from',
  });
}

/** Which files the network becomes. */
type Plan = {
  readonly to: ForeignLayout;
  readonly backend: Backend;
  readonly inputPrefix?: string | undefined;
};
type PlanOptions = Pick<ForeignOptions, 'to' | 'backend'> & { readonly precision: Precision };

function planOf({ folder, head }: Checkpoint, { to, backend, precision }: PlanOptions): Plan {
  if (head === 'none') throw missingHead(folder, 'lzero model import SOURCE -o MODEL');
  if (backend !== undefined && to !== 'sentence-transformers') throw noBackend(to);
  if (to === 'onnx') return { to, backend: 'onnx' };
  const reason = notForTorch(head, precision);
  const chosen = backend ?? (to === 'opensearch' || reason === undefined ? 'torch' : 'onnx');
  if (reason === undefined || chosen === 'onnx') return { to, backend: chosen };
  throw new ConfigError(`${folder}: ${reason.problem}`, {
    hint: `write an ONNX file: --to onnx, or --to sentence-transformers --backend onnx${reason.orElse}`,
  });
}

/** What torch's BertForMaskedLM cannot compute. */
function notForTorch(head: 'mlm' | OwnHead, precision: Precision): { problem: string; orElse: string } | undefined {
  if (isOwnHead(head)) {
    const problem =
      head === 'topic'
        ? 'BertForMaskedLM has no place for a topic head, which reads the mean state'
        : 'BertForMaskedLM has no place for a tied head, which puts the embeddings of the input back';
    return { problem, orElse: '' };
  }
  if (precision === 'fp32') return undefined;
  return { problem: 'torch computes this network in float32, not in int8', orElse: '; or give --precision fp32' };
}

function writeLayout(folder: string, model: ForeignModel, { to, backend, inputPrefix }: Plan): Promise<void> {
  switch (to) {
    case 'sentence-transformers':
      return writeSentenceTransformers(folder, model, backend);
    case 'opensearch':
      return writeOpenSearch(folder, model);
    case 'onnx':
      return writeOnnxFolder(folder, model, { inputPrefix });
    default:
      return to satisfies never;
  }
}

/** What the caller let go of, and what is kept all the same. */
function needless(drop: readonly Droppable[], losses: readonly Droppable[], to: ForeignLayout): string[] {
  const names = drop.filter((name) => !losses.includes(name));
  return names.length === 0
    ? []
    : [`nothing was left out for --drop ${names.join(',')}: ${to} needs no such loss here`];
}

/** What is written as lzero reads it, where whoever made the model reads it in another way. */
function changesOf(model: ModelFolder): string[] {
  const { layout, settings } = model;
  if (layout === 'lzero') return [];
  const silenced =
    layout === 'sentence-transformers' ? ['special tokens weigh 0 from now on: sentence-transformers kept them'] : [];
  return settings.kind === 'bert' && settings.queries === 'encoded' ? silenced : [...silenced, ...weightNotes(model)];
}

function notesOf({ to, backend }: Plan, made: { settings: BertSettings; precision: Precision }): string[] {
  const notes: string[] = [];
  if (to === 'sentence-transformers' && backend === 'onnx')
    notes.push('load it with SparseEncoder(PATH, backend="onnx"): the network is onnx/model.onnx, and torch has none');
  if (made.precision === 'int8')
    notes.push('int8: a document’s weights depend on the others of its batch; batches of one give those of lzero');
  if (to === 'onnx' && made.settings.prune.rule !== 'none') notes.push('pruning is part of the graph');
  return notes;
}
