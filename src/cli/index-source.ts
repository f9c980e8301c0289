/**
 * What `index` and `add` put into an index: documents or vectors from files, or the chunks of changed pages. Knows nothing
 * of how they are written.
 */
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
import type { EngineDocument, Index } from '../engines/index.ts';
import type { Model } from '../model/index.ts';
import type { Vocabulary } from '../text/index.ts';

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
  readonly documents: AsyncIterable<EngineDocument>;
  readonly report: ReadReport;
  /** What happened to pages; undefined where the input is not a folder of pages. Complete after the last document. */
  readonly pages?: PageTally;
};

/** How many pages were met, and which are not there any more. */
export type PageTally = {
  numChanged: number;
  readonly unchanged: readonly string[];
  readonly removed: readonly string[];
};

/** What a source is read for. */
export type SourceContext = {
  readonly index: Index;
  readonly model: Model | undefined;
  readonly signal: AbortSignal;
  /** Whether documents that the index has are to be left out: an interrupted build goes on. */
  readonly skipKnown: boolean;
};

/** Tokens of a chunk for engines that read texts of any length: about a screenful. */
const DEFAULT_CHUNK_TOKENS = 256;
/** Where content hash and number of chunks of a page are kept, `hash/number`: with the fields of each chunk. */
const HASH_FIELD = 'contentHash';

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
  if (await isPageFolder(input)) return pageSource(input, options, context);
  const records = readDocuments(input, { ...options, signal: context.signal });
  const whole = options.vectors === undefined ? records : withVectors(records, options.vectors, options, context);
  return { documents: unknown(chunked(whole, options, context), context), report: records.report };
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
  const vectors = readVectors(file, { skipBad, signal: context.signal })[Symbol.asyncIterator]();
  const nextVector = async (expected: string | undefined): Promise<VectorRecord> => {
    const { value } = await vectors.next();
    if (value?.id === expected) return value;
    const stands = expected === undefined ? 'the input has ended' : `${expected} stands`;
    throw new InputError(`${file} has ${value ? `the vector of ${value.id}` : 'no vector'} where ${stands}`, {
      hint: 'vectors must be those of the input, in its order: lzero encode writes them so',
    });
  };
  for await (const document of documents)
    yield { ...document, vector: vectorOf(await nextVector(document.id), vocabularyOf(context)) };
  await nextVector(undefined);
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
    const parts = limits ? [...chunkDocument(document, limits)] : [document];
    await dropOldParts(context.index, document.id, parts);
    yield* parts;
  }
}

function chunkLimits({ chunk, overlap }: SourceOptions, { index, model }: SourceContext) {
  const tokenizer = model?.tokenizer ?? index.language.querySide?.tokenizer;
  const counting = tokenizer ? countingOf(tokenizer) : { countTokens: countWords, numSpecialTokens: 0 };
  const reads = model?.settings.kind === 'bert' ? model.settings.encodeLength : DEFAULT_CHUNK_TOKENS;
  if (chunk === false) return { ...counting, maxTokens: Number.MAX_SAFE_INTEGER, overlapTokens: 0 };
  return { ...counting, maxTokens: typeof chunk === 'number' ? chunk : reads, overlapTokens: overlap };
}

/** For BM25, which has no tokenizer of its own kind here. */
function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

// ---- pages

function pageSource(folder: string, options: SourceOptions, context: SourceContext): IndexSource {
  const { skipBad, baseUrl, chunk = true } = options;
  const pages = readPages(folder, { skipBad, baseUrl, signal: context.signal });
  const plan = planPages(knownPages(context.index), pages);
  const tally = {
    numChanged: 0,
    unchanged: plan.unchanged,
    get removed() {
      return plan.removed;
    },
  };
  const limits = chunkLimits({ ...options, chunk }, context);
  async function* documents(): AsyncGenerator<EngineDocument> {
    for await (const page of plan.changed) {
      tally.numChanged++;
      const chunks = [...chunkPage(page, limits)];
      await dropOldParts(context.index, page.id, chunks);
      const fields = { ...page.fields, [HASH_FIELD]: `${page.contentHash}/${chunks.length}` };
      for (const part of chunks) yield { ...part, fields };
    }
  }
  return { documents: documents(), report: pages.report, pages: tally };
}

/** A page or document that became shorter has parts that no new one replaces. */
async function dropOldParts(index: Index, page: string, parts: readonly { readonly id: string }[]): Promise<void> {
  const fresh = new Set(parts.map(({ id }) => id));
  const old = index.partsOf(page).filter((part) => !fresh.has(part));
  if (old.length > 0) await index.delete(old);
}

/**
 * Content hashes of the pages in an index. A page of which a part is missing or of another version, because somebody was
 * stopped in the middle of it, has '' and is encoded again.
 */
function knownPages(index: Index): Map<string, string> {
  const numParts = new Map<string, number>();
  const hashes = new Map<string, string>();
  for (const { page, fields } of index.documents()) {
    const version = fields?.[HASH_FIELD];
    if (page === undefined || typeof version !== 'string') continue;
    const key = JSON.stringify([page, version]);
    const count = (numParts.get(key) ?? 0) + 1;
    numParts.set(key, count);
    const [hash, expected] = version.split('/');
    if (count === Number(expected)) hashes.set(page, hash);
    else if (!hashes.has(page)) hashes.set(page, '');
  }
  return hashes;
}

// ---- resuming

async function* unknown(
  documents: AsyncIterable<EngineDocument>,
  { index, skipKnown }: SourceContext,
): AsyncGenerator<EngineDocument> {
  for await (const document of documents) if (!skipKnown || !index.has(document.id)) yield document;
}
