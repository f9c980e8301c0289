/** The systems that `lzero eval` can compare, by the names that people type. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../core/index.ts';
import type { Collection } from '../data/index.ts';
import { type CreateIndexOptions, createIndex, type Index, openIndex } from '../engines/index.ts';
import { fusedSystem, indexSystem, openRunFile, rememberQueries, type System } from '../eval/index.ts';
import { exists } from '../files/index.ts';
import { loadModel, type Model, type Precision, resolveModel } from '../model/index.ts';
import { parseTeacher } from '../teach/index.ts';
import { EVAL_STATES, warnIfUnfinished } from './build-note.ts';
import { closeAll } from './close-all.ts';
import type { CliContext } from './context.ts';
import { denseSystem } from './dense-system.ts';
import { runIndexJob } from './index-job.ts';
import type { ServerCommandOptions } from './opensearch-options.ts';
import { readServerSystem, serverSystem } from './opensearch-system.ts';
import { packageVersion } from './program.ts';
import { QueryModel } from './query-model.ts';

/** A system that holds files, threads or a model. */
export type OpenSystem = {
  readonly system: System;
  /** Names all that its answers depend on, by content: unlike the system's id the same when its index is built again. */
  readonly identity: string;
  close(): Promise<void>;
};

/** What a system needs to know of a collection. */
export type SearchedDocuments = Pick<Collection, 'name' | 'documents' | 'documentsFingerprint'>;

/** What a system is opened for. */
export type SystemContext = {
  readonly context: CliContext;
  readonly collection: SearchedDocuments;
  /** Where indexes are built; those of an earlier call are used again. */
  readonly folder: string;
  /** The arithmetic of models; their own if not given. */
  readonly precision?: Precision | undefined;
  /** How servers are reached. */
  readonly server?: ServerCommandOptions | undefined;
  /** Encodes the queries of all systems with learned vectors; the IDF table if not given. */
  readonly queryModel?: QueryModel | undefined;
};

/** How the names of systems are explained. */
export const SYSTEM_HELP =
  'bm25, bow, default, a model folder or pulled name, siamese:MODEL, dense:MODEL, index:DIR, run:FILE, opensearch:URL/INDEX[?two-phase], rrf:A+B, sum:A+B, sum:0.7*A+0.3*B';

/** Refuses a name that stands for nothing, before hours are spent on the others. */
export async function checkSystem(name: string): Promise<void> {
  const { kind, rest } = readName(name);
  if (kind === 'rrf' || kind === 'sum') {
    const parts = readParts(rest);
    if (parts.length < 2 || parts.some((part) => part.name === ''))
      throw new UsageError(`${name} joins nothing`, { hint: `name two systems: ${kind}:bm25+default` });
    if (parts.every(({ weight }) => weight === 0)) throw new UsageError(`${name} joins nothing: all weights are 0`);
    for (const part of parts) await checkSystem(part.name);
  } else if (kind === 'opensearch') readServerSystem(rest);
  else if (kind === 'siamese') await checkModel(name, rest);
  else if (kind === 'dense') await checkModel(name, parseTeacher(name).model);
  else if (kind !== 'built' && !(await exists(rest))) throw new UsageError(`${name}: ${rest} does not exist`);
  else if (kind === 'built' && name !== 'bm25') await checkModel(name, name);
}

/** A model is embedded, a name that was pulled, or a folder. */
async function checkModel(system: string, model: string): Promise<void> {
  const { folder } = await resolveModel(model);
  if (!(await exists(folder)))
    throw new UsageError(`there is no system and no model folder ${system}`, { hint: `systems are ${SYSTEM_HELP}` });
}

/** Whether a name stands for a system whose queries `--query-model` would encode. */
export function takesQueryModel(name: string): boolean {
  const { kind, rest } = readName(name);
  if (kind === 'rrf' || kind === 'sum') return readParts(rest).some((part) => takesQueryModel(part.name));
  return kind === 'index' || (kind === 'built' && name !== 'bm25');
}

/** Whether a name stands for a system that puts what a model makes of documents into an index. */
export function encodesDocuments(name: string): boolean {
  const { kind, rest } = readName(name);
  if (kind === 'rrf' || kind === 'sum') return readParts(rest).some((part) => encodesDocuments(part.name));
  return kind === 'siamese' || (kind === 'built' && name !== 'bm25');
}

/** Whether a name stands for answers that were recorded before. */
export function isRecorded(name: string): boolean {
  return readName(name).kind === 'run';
}

/** The files of recorded answers that a name stands for, those of joined systems included. */
export function recordedFiles(name: string): readonly string[] {
  const { kind, rest } = readName(name);
  if (kind === 'rrf' || kind === 'sum') return readParts(rest).flatMap((part) => recordedFiles(part.name));
  return kind === 'run' ? [rest] : [];
}

const KINDS = ['index', 'run', 'rrf', 'sum', 'siamese', 'dense', 'opensearch'] as const;

type SystemName = { readonly kind: (typeof KINDS)[number] | 'built'; readonly rest: string };

function readName(name: string): SystemName {
  const [, prefix, rest = ''] = /^(\w+):(.+)$/s.exec(name) ?? [];
  const kind = KINDS.find((known) => known === prefix);
  return kind ? { kind, rest } : { kind: 'built', rest: name };
}

/** A system to be joined. */
type WeightedName = { readonly name: string; readonly weight: number };

/** Reads "0.7*A+0.3*B"; a system without a weight has 1. */
function readParts(text: string): WeightedName[] {
  return text.split('+').map((part) => {
    const [, weight = '1', name = part] = /^(\d+(?:\.\d*)?|\.\d+)\*(.*)$/s.exec(part) ?? [];
    return { name, weight: Number(weight) };
  });
}

/** Opens the system that a name stands for. */
export async function openSystem(name: string, where: SystemContext): Promise<OpenSystem> {
  const { kind, rest } = readName(name);
  if (kind === 'index') {
    const index = await openIndex(rest);
    warnIfUnfinished(where.context.logger, index);
    return named(await indexedSystem(name, index, where.queryModel));
  }
  if (kind === 'siamese') return await siameseSystem(name, rest, where);
  if (kind === 'dense') return named(await denseSystem(name, where));
  if (kind === 'opensearch') return named(await serverSystem(rest, where));
  if (kind === 'run') return named({ system: await openRunFile(rest, { name }), close: async () => {} });
  if (kind !== 'built') return await fused(name, { method: kind, parts: readParts(rest) }, where);
  return name === 'bm25' ? await builtSystem(name, where, undefined) : await modelSystem(name, where);
}

/** A system whose id is that of its content. */
function named(opened: Unnamed): OpenSystem {
  return { ...opened, identity: opened.system.id };
}

/** A system as it is opened. */
export type Unnamed = Omit<OpenSystem, 'identity'>;

type FusedName = { readonly method: 'rrf' | 'sum'; readonly parts: readonly WeightedName[] };

async function fused(name: string, { method, parts }: FusedName, where: SystemContext): Promise<OpenSystem> {
  const opened: OpenSystem[] = [];
  try {
    for (const part of parts) opened.push(await openSystem(part.name, where));
  } catch (error) {
    await closeAll(opened).catch(() => {}); // the first failure is the one to report
    throw error;
  }
  const systems = opened.map(({ system }) => system);
  const isWeighted = parts.some(({ weight }) => weight !== 1);
  const weights = isWeighted ? parts.map(({ weight }) => weight) : undefined;
  const { queryModel } = where;
  const shown = queryModel && takesQueryModel(name) ? withQueries(name, queryModel) : name;
  const identity = JSON.stringify([method, weights, opened.map((part) => part.identity)]);
  return { system: fusedSystem(shown, systems, { method, weights }), identity, close: () => closeAll(opened) };
}

/** What tables call a system whose queries a network encodes. */
function withQueries(name: string, queryModel: QueryModel): string {
  return `${name}, queries by ${queryModel.name}`;
}

async function modelSystem(name: string, where: SystemContext): Promise<OpenSystem> {
  const { precision } = where;
  const model = await loadModel(name, { precision });
  try {
    if ('queries' in model.settings && !where.queryModel)
      where.context.logger.warn(`${name} was made for encoded queries, here they are looked up: see siamese:${name}`);
    return await builtSystem(name, where, model);
  } finally {
    await model.close();
  }
}

/** A model that encodes both sides: an index of its own, searched with what its network makes of queries. */
async function siameseSystem(name: string, model: string, where: SystemContext): Promise<OpenSystem> {
  const queryModel = await QueryModel.open(model, { precision: where.precision });
  try {
    const opened = await modelSystem(model, { ...where, queryModel });
    const { system, identity } = opened;
    return { system: { ...system, name }, identity, close: () => closeAll([opened, queryModel]) };
  } catch (error) {
    await queryModel.close();
    throw error;
  }
}

/** Builds the index of a collection, or takes the one that an earlier call has built. */
async function builtSystem(name: string, where: SystemContext, model: Model | undefined): Promise<OpenSystem> {
  const { collection, folder } = where;
  const kind = model ? await model.identity() : 'words';
  const made = [packageVersion(), kind, await collection.documentsFingerprint()];
  const hash = createHash('sha256').update(JSON.stringify(made)).digest('hex');
  const path = join(folder, `${collection.name.replace(/[^\w.-]+/g, '_')}-${hash.slice(0, 16)}`);
  const identity = JSON.stringify(['built', hash, (await where.queryModel?.identity()) ?? null]);
  const index = await build(path, where, model ? { model } : { kind: 'bm25' });
  return { ...(await indexedSystem(name, index, where.queryModel)), identity };
}

async function build(
  path: string,
  { context, collection }: SystemContext,
  options: CreateIndexOptions,
): Promise<Index> {
  const writer = { log: false };
  const isThere = await exists(join(path, 'manifest.json'));
  const index = isThere
    ? await openIndex(path, { model: options.model, writer })
    : await createIndex(path, { ...options, writer });
  try {
    if (index.userState !== EVAL_STATES.finished) await fill(index, context, collection);
    return index;
  } catch (error) {
    await index.close();
    throw error;
  }
}

async function fill(index: Index, context: CliContext, collection: SearchedDocuments): Promise<void> {
  const documents = collection.documents({ signal: context.signal });
  async function* missing() {
    for await (const document of documents) if (!index.has(document.id)) yield document;
  }
  const source = { documents: missing(), report: documents.report };
  await runIndexJob(context, { index, source, state: EVAL_STATES });
  await index.merge({ signal: context.signal });
}

async function indexedSystem(name: string, index: Index, queryModel: QueryModel | undefined): Promise<Unnamed> {
  // It names the checksums of all files, so whatever changes in the index makes it another system.
  const manifest = await readFile(join(index.folder, 'manifest.json'));
  const id = `index ${createHash('sha256').update(manifest).digest('hex')}`;
  const close = (): Promise<void> => index.close();
  if (!queryModel || index.settings.kind === 'bm25') return { system: indexSystem(index, { name, id }), close };
  try {
    queryModel.requireFit(index);
    return { system: await encodedSystem(index, { name, id, queryModel }), close };
  } catch (error) {
    await index.close();
    throw error;
  }
}

type EncodedNames = { readonly name: string; readonly id: string; readonly queryModel: QueryModel };

/** An index whose queries a network encodes: another system, under another name. */
async function encodedSystem(index: Index, { name, id, queryModel }: EncodedNames): Promise<System> {
  return indexSystem(index, {
    name: withQueries(name, queryModel),
    id: `${id}, queries ${await queryModel.identity()}`,
    encodeQueries: rememberQueries((queries, options) => queryModel.encode(queries, options)),
  });
}
