/**
 * A test collection: documents, queries and judgements that belong together. Reads BEIR folders, and files that are
 * named one by one. Documents stay on disk; queries and judgements are held. Knows nothing of systems or metrics.
 *
 *     FOLDER/corpus.jsonl[.gz]   FOLDER/queries.jsonl[.gz]   FOLDER/qrels/SPLIT.tsv[.gz]
 */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { errorCode, InputError, type Logger, silentLogger } from '../core/index.ts';
import { readBytes } from './byte-source.ts';
import { type Document, inputFile, readDocuments } from './documents.ts';
import { type Qrels, readQrels } from './qrels.ts';
import { type Query, readQueries } from './queries.ts';
import type { ReadOptions, Records } from './records.ts';

/** The files of a collection that is not a BEIR folder. */
export type CollectionFiles = {
  /** What reports call it. */
  readonly name: string;
  /** Anything that documents are read from. */
  readonly documents: string;
  /** Anything that queries are read from. */
  readonly queries: string;
  /** Judgements, TREC's or BEIR's. */
  readonly qrels: string;
  /** What reports call this set of judgements. */
  readonly split?: string | undefined;
};

/** How to open a collection. */
export type CollectionOptions = ReadOptions & {
  /** Which judgements; without it test, or what there is in its place, said to `logger`. */
  readonly split?: string | undefined;
  /** Hears which split stands in for test. */
  readonly logger?: Logger | undefined;
};

/** Documents, the judged queries of one split, and their judgements. */
export type Collection = {
  readonly name: string;
  readonly split: string;
  /** Reads the documents, anew at each call. */
  documents(options?: ReadOptions): Records<Document>;
  /** The judged queries, in the order of their file. */
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
  /** SHA-256 over the documents' file: equal ones give equal indexes. */
  documentsFingerprint(): Promise<string>;
  /** SHA-256 over documents, judged queries and judgements: equal ones give equal results. */
  fingerprint(): Promise<string>;
};

/** Opens a BEIR folder, or files named one by one. A judged query without text is an InputError. */
export async function openCollection(
  source: string | CollectionFiles,
  options: CollectionOptions = {},
): Promise<Collection> {
  const files = typeof source === 'string' ? await filesOfFolder(source, options) : source;
  const reading: ReadOptions = options;
  const qrels = await readQrels(files.qrels, reading);
  const queries = await judgedQueries(files, qrels, reading);
  let documentsPrint: Promise<string> | undefined;
  const documentsFingerprint = (): Promise<string> => {
    documentsPrint ??= hashDocuments(files); // reads them all: once
    return documentsPrint;
  };
  return {
    name: files.name,
    split: files.split ?? DEFAULT_SPLIT,
    documents: (own = reading) => readDocuments(files.documents, own),
    queries,
    qrels,
    documentsFingerprint,
    fingerprint: async () => fingerprint(await documentsFingerprint(), queries, qrels),
  };
}

const DEFAULT_SPLIT = 'test';
/** Splits that may stand in for test where nobody asked for one: never train among several. */
const STAND_INS = ['dev', 'validation'];

async function filesOfFolder(folder: string, options: CollectionOptions): Promise<CollectionFiles> {
  const splits = await splitsOf(folder);
  const split = options.split ?? defaultSplit(folder, [...splits.keys()], options.logger ?? silentLogger);
  const qrels = splits.get(split);
  if (qrels === undefined)
    throw new InputError(`${folder} has no judgements for split ${split}`, {
      hint: `its splits: ${[...splits.keys()].join(', ')}`,
    });
  return {
    name: basename(resolve(folder)),
    documents: folder,
    queries: folder,
    qrels: join(folder, 'qrels', qrels),
    split,
  };
}

/** Names of judgement files by split. */
async function splitsOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(join(folder, 'qrels')).catch((cause: unknown) => {
    if (errorCode(cause) !== 'ENOENT' && errorCode(cause) !== 'ENOTDIR') throw cause;
    return [];
  });
  const found = names.sort().flatMap((name) => {
    const split = name.match(/^(.+)\.tsv(?:\.gz)?$/)?.[1];
    return split === undefined ? [] : [[split, name] as const];
  });
  if (found.length > 0) return new Map(found);
  throw new InputError(`${folder} is not a test collection: no judgements in ${join(folder, 'qrels')}`, {
    hint: 'a collection is a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv, as in BEIR',
  });
}

function defaultSplit(folder: string, splits: readonly string[], logger: Logger): string {
  if (splits.includes(DEFAULT_SPLIT)) return DEFAULT_SPLIT;
  const standIn = splits.length === 1 ? splits[0] : STAND_INS.find((name) => splits.includes(name));
  if (standIn === undefined)
    throw new InputError(`${folder} has no split test, but ${splits.join(', ')}`, { hint: 'choose one with --split' });
  logger.warn(`${folder} has no split test: ${standIn} is used`);
  return standIn;
}

async function judgedQueries(files: CollectionFiles, qrels: Qrels, options: ReadOptions): Promise<Query[]> {
  const judged: Query[] = [];
  for await (const query of readQueries(files.queries, options)) if (qrels.has(query.id)) judged.push(query);
  const missing = qrels.size - judged.length;
  if (missing === 0) return judged;
  const known = new Set(judged.map(({ id }) => id));
  const first = [...qrels.keys()].find((id) => !known.has(id));
  throw new InputError(
    `${files.qrels} judges ${missing === 1 ? 'a query' : `${missing} queries`} that ${files.queries} does not have, first ${first}`,
    { hint: 'judgements and queries must be of the same split' },
  );
}

async function hashDocuments({ documents }: CollectionFiles): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of readBytes(await inputFile(documents))) hash.update(bytes);
  return hash.digest('hex');
}

function fingerprint(documents: string, queries: readonly Query[], qrels: Qrels): string {
  const hash = createHash('sha256').update(documents);
  for (const { id, text, vector } of queries)
    hash.update(`${JSON.stringify([id, text, vector, [...(qrels.get(id) ?? new Map<string, number>())]])}\n`);
  return hash.digest('hex');
}
