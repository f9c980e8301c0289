/**
 * What `index` and `add` put into an index: documents or vectors from files, or the chunks of changed pages. Knows nothing
 * of how they are written.
 */
import { realpath } from 'node:fs/promises';
import { relative } from 'node:path';
import { InputError, type SparseVector, sparseVector, UsageError } from '../core/index.ts';
import {
  chunkDocument,
  chunkPage,
  countingOf,
  type Document,
  isPageFolder,
  planPages,
  type ReadReport,
  readDocuments,
  readPages,
  readVectors,
  type VectorRecord,
} from '../data/index.ts';
import type { EngineDocument, Index, IndexDocument } from '../engines/index.ts';
import type { Model } from '../model/index.ts';
import { checkDeclaredFields } from '../search/index.ts';
import type { Vocabulary } from '../text/index.ts';
import { withRecords } from './paired-vectors.ts';

/** Options that say how an input is read. */
export type SourceOptions = {
  readonly vectors?: string;
  readonly format?: 'jsonl' | 'tsv';
  readonly skipBad?: boolean;
  /** Tokens of a chunk; true: what the model reads; false: documents stay whole. */
  readonly chunk?: number | boolean;
  readonly overlap?: number;
  readonly baseUrl?: string;
};

/** An input on its way. */
export type IndexSource = {
  readonly documents: AsyncIterable<IndexDocument>;
  readonly report: ReadReport;
  /** What happened to pages; undefined where the input is not a folder of pages. Complete after the last document. */
  readonly pages?: PageTally;
};

/** How many pages were met, and which are not there any more. */
export type PageTally = {
  numChanged: number;
  /** Of those, pages that take the place of one from another folder: pages are called by their path in their folder. */
  numTaken: number;
  readonly unchanged: readonly string[];
  readonly removed: readonly string[];
};

/** What a source is read for. */
export type SourceContext = {
  readonly index: Index;
  /** Where the index is, or will be when it is finished; pages are told apart by where their folder is from there. */
  readonly home?: string | undefined;
  readonly model: Model | undefined;
  readonly signal: AbortSignal;
  /** Whether documents that the index has are to be left out: an interrupted build goes on. */
  readonly skipKnown: boolean;
};

/** Tokens of a chunk for engines that read texts of any length: about a screenful. */
const DEFAULT_CHUNK_TOKENS = 256;

/** Refuses options that do not fit the input, before anything is made. */
export async function checkSource(input: string | undefined, options: SourceOptions): Promise<void> {
  const { vectors, chunk = false, overlap, baseUrl } = options;
  if (input === undefined && vectors === undefined)
    throw new UsageError('give an input or --vectors', { hint: 'lzero index corpus.jsonl -o my-index' });
  const isPages = input !== undefined && (await isPageFolder(input));
  if (isPages && vectors !== undefined)
    throw new UsageError('--vectors goes with documents: the parts of pages are encoded as they are cut');
  if (vectors !== undefined && chunk !== false)
    throw new UsageError('--chunk and --vectors do not go together: the vectors are those of whole documents');
  if (!isPages && chunk === false && overlap !== undefined) throw new UsageError('--overlap needs --chunk');
  if (!isPages && baseUrl !== undefined) throw new UsageError('--base-url is for folders of pages');
}

/** Opens an input: documents, documents with vectors beside them, vectors alone, or pages. */
export async function openSource(
  input: string | undefined,
  options: SourceOptions,
  context: SourceContext,
): Promise<IndexSource> {
  if (input === undefined) return vectorSource(options.vectors ?? '-', options, context);
  if (await isPageFolder(input)) return await pageSource(input, options, context);
  // With vectors beside them no line may be left out that `encode` has taken.
  const check = options.vectors === undefined ? fieldProblem(context.index) : undefined;
  const records = readDocuments(input, { ...options, signal: context.signal, check });
  const whole = options.vectors === undefined ? records : withVectors(records, options.vectors, options, context);
  return { documents: unknown(chunked(whole, options, context), context), report: records.report };
}

/** What is wrong with the declared fields of a document, so that it is a bad line or page like any other. */
function fieldProblem({ settings }: Index): (document: Pick<Document, 'id' | 'fields'>) => string | undefined {
  return (document) => {
    try {
      checkDeclaredFields(document, settings.fields);
      return undefined;
    } catch (error) {
      if (error instanceof InputError) return error.message;
      throw error;
    }
  };
}

// ---- vectors

function vectorSource(file: string, options: SourceOptions, context: SourceContext): IndexSource {
  const { skipBad } = options;
  const records = readVectors(file, { skipBad, signal: context.signal });
  async function* documents(): AsyncGenerator<EngineDocument> {
    for await (const record of records) yield { id: record.id, vector: vectorOf(record, vocabularyOf(context)) };
  }
  return { documents: unknown(documents(), context), report: records.report };
}

/** Documents and their vectors, which stand in the same order, as `encode` writes them. */
async function* withVectors(
  documents: AsyncIterable<Document>,
  file: string,
  { skipBad }: SourceOptions,
  context: SourceContext,
): AsyncGenerator<EngineDocument & Document> {
  const records = withRecords(documents, file, { skipBad, signal: context.signal });
  for await (const { document, record } of records)
    yield { ...document, vector: vectorOf(record, vocabularyOf(context)) };
}

function vocabularyOf({ index }: SourceContext): Vocabulary {
  const { querySide } = index.language;
  if (querySide) return querySide.tokenizer.vocabulary;
  throw new UsageError('a BM25 index takes words, not vectors', { hint: 'leave out --vectors' });
}

function vectorOf({ id, tokens, weights }: VectorRecord, vocabulary: Vocabulary): SparseVector {
  const terms = tokens.map((token) => {
    const term = vocabulary.idOf(token);
    if (term !== undefined) return term;
    throw new InputError(`vector ${JSON.stringify(id)} has the token ${JSON.stringify(token)}, the model knows none`, {
      hint: 'name the model that made the vectors with --model',
    });
  });
  return sparseVector(terms, weights);
}

/** The largest weight of a vector file, which decides the steps of the index; undefined where it has none. */
export async function largestWeight(
  file: string,
  options: SourceOptions & { readonly signal: AbortSignal },
): Promise<number | undefined> {
  let largest = 0;
  for await (const { weights } of readVectors(file, options)) for (const w of weights) if (w > largest) largest = w;
  return largest > 0 ? largest : undefined;
}

// ---- chunks

async function* chunked(
  documents: AsyncIterable<Document & EngineDocument>,
  options: SourceOptions,
  context: SourceContext,
): AsyncGenerator<EngineDocument> {
  const { chunk = false } = options;
  const limits = chunk === false ? undefined : chunkLimits(options, context);
  for await (const document of documents) {
    if (limits) yield* chunkDocument(document, limits);
    else yield document;
  }
}

function chunkLimits({ chunk, overlap }: SourceOptions, { index, model }: SourceContext) {
  const tokenizer = model?.tokenizer ?? index.language.querySide?.tokenizer;
  const counting = tokenizer ? countingOf(tokenizer) : { countTokens: countWords, numSpecialTokens: 0 };
  const reads = model && 'encodeLength' in model.settings ? model.settings.encodeLength : DEFAULT_CHUNK_TOKENS;
  if (chunk === false) return { ...counting, maxTokens: Number.MAX_SAFE_INTEGER, overlapTokens: 0 };
  return { ...counting, maxTokens: typeof chunk === 'number' ? chunk : reads, overlapTokens: overlap };
}

/** For BM25, which has no tokenizer of its own kind here. */
function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

// ---- pages

async function pageSource(folder: string, options: SourceOptions, context: SourceContext): Promise<IndexSource> {
  const { skipBad, baseUrl, chunk = true } = options;
  const { index, signal, home = index.folder } = context;
  const source = relative(await realpath(home), await realpath(folder));
  const pages = readPages(folder, { skipBad, baseUrl, signal, check: fieldProblem(index) });
  const plan = planPages(knownPages(index, source), pages);
  const tally = {
    numChanged: 0,
    numTaken: 0,
    unchanged: plan.unchanged,
    get removed() {
      return plan.removed;
    },
  };
  const limits = chunkLimits({ ...options, chunk }, context);
  async function* documents(): AsyncGenerator<IndexDocument> {
    for await (const page of plan.changed) {
      tally.numChanged++;
      const chunks = [...chunkPage(page, limits)];
      const { source: before = source } = index.get(chunks[0].id)?.origin ?? {};
      if (before !== source) tally.numTaken++;
      const origin = { source, hash: page.contentHash, numParts: chunks.length };
      const fields = Object.keys(page.fields).length > 0 ? { fields: page.fields } : {};
      for (const part of chunks) yield { ...part, ...fields, origin };
    }
  }
  return { documents: documents(), report: pages.report, pages: tally };
}

/**
 * Content hashes of the pages that an index has of a source. A page of which a part is missing or of another version,
 * because somebody was killed in the middle of it, has '' and is encoded again.
 */
function knownPages(index: Index, source: string): Map<string, string> {
  const numParts = new Map<string, number>();
  const hashes = new Map<string, string>();
  for (const { page, origin } of index.documents()) {
    if (page === undefined || origin?.source !== source) continue;
    const key = JSON.stringify([page, origin.hash]);
    const count = (numParts.get(key) ?? 0) + 1;
    numParts.set(key, count);
    if (count === origin.numParts) hashes.set(page, origin.hash);
    else if (!hashes.has(page)) hashes.set(page, '');
  }
  return hashes;
}

// ---- resuming

async function* unknown(
  documents: AsyncIterable<EngineDocument>,
  { index, skipKnown }: SourceContext,
): AsyncGenerator<EngineDocument> {
  const isKnown = ({ id, page = id }: EngineDocument): boolean => index.pageOf(id) === page;
  for await (const document of documents) if (!skipKnown || !isKnown(document)) yield document;
}
