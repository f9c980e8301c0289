/** An input on its way to a server: documents, documents with vectors beside them, vectors alone, or pages in parts. */
import {
  chunkDocument,
  chunkPage,
  countingOf,
  type Document,
  isPageFolder,
  type ReadReport,
  readDocuments,
  readPages,
  readVectors,
  type VectorRecord,
} from '../data/index.ts';
import type { EngineDocument } from '../engines/index.ts';
import type { Model } from '../model/index.ts';
import type { SourceOptions } from './index-source.ts';
import { withRecords } from './paired-vectors.ts';
import { inShard, type Shard } from './shard.ts';

/** Documents, and what was met on the way. */
export type ServerSource = { readonly documents: AsyncIterable<EngineDocument>; readonly report: ReadReport };

/** What a source is read for. */
export type ServerSourceContext = {
  readonly model: Model;
  readonly signal: AbortSignal;
  /** Only every n-th document or page. */
  readonly shard?: Shard | undefined;
};

/** Tokens of a part where the model reads texts of any length. */
const DEFAULT_CHUNK_TOKENS = 256;

/** Opens an input. */
export async function openServerSource(
  input: string | undefined,
  options: SourceOptions,
  context: ServerSourceContext,
): Promise<ServerSource> {
  const { signal } = context;
  const { skipBad } = options;
  if (input === undefined) {
    const records = readVectors(options.vectors ?? '-', { skipBad, signal });
    return { documents: inShard(vectorsAlone(records), context.shard), report: records.report };
  }
  if (await isPageFolder(input)) return pageSource(input, options, context);
  const records = readDocuments(input, { skipBad, format: options.format, signal });
  const whole = options.vectors === undefined ? records : withVectors(records, options.vectors, { skipBad, signal });
  return { documents: chunked(inShard(whole, context.shard), options, context), report: records.report };
}

function weightsOf({ tokens, weights }: VectorRecord): Record<string, number> {
  return Object.fromEntries(tokens.map((token, i) => [token, weights[i]]));
}

async function* vectorsAlone(records: AsyncIterable<VectorRecord>): AsyncGenerator<EngineDocument> {
  for await (const record of records) yield { id: record.id, vector: weightsOf(record) };
}

/** Vectors stand in the order of the documents, as `encode` writes them. */
async function* withVectors(
  documents: AsyncIterable<Document>,
  file: string,
  options: { readonly skipBad: boolean | undefined; readonly signal: AbortSignal },
): AsyncGenerator<Document & EngineDocument> {
  for await (const { document, record } of withRecords(documents, file, options))
    yield { ...document, vector: weightsOf(record) };
}

async function* chunked(
  documents: AsyncIterable<Document & EngineDocument>,
  options: SourceOptions,
  { model }: ServerSourceContext,
): AsyncGenerator<EngineDocument> {
  const { chunk = false } = options;
  for await (const document of documents) {
    if (chunk === false) yield document;
    else yield* chunkDocument(document, chunkLimits({ ...options, chunk }, model));
  }
}

function pageSource(folder: string, options: SourceOptions, context: ServerSourceContext): ServerSource {
  const { model, signal } = context;
  const { skipBad, baseUrl, chunk = true } = options;
  const pages = readPages(folder, { skipBad, baseUrl, signal });
  const limits = chunkLimits({ ...options, chunk }, model);
  async function* documents(): AsyncGenerator<EngineDocument> {
    for await (const page of inShard(pages, context.shard)) {
      const fields = Object.keys(page.fields).length > 0 ? { fields: page.fields } : {};
      for (const part of chunkPage(page, limits)) yield { ...part, ...fields };
    }
  }
  return { documents: documents(), report: pages.report };
}

function chunkLimits({ chunk, overlap }: SourceOptions, { tokenizer, settings }: Model) {
  const counting = countingOf(tokenizer);
  const reads = 'encodeLength' in settings ? settings.encodeLength : DEFAULT_CHUNK_TOKENS;
  if (chunk === false) return { ...counting, maxTokens: Number.MAX_SAFE_INTEGER, overlapTokens: 0 };
  return { ...counting, maxTokens: typeof chunk === 'number' ? chunk : reads, overlapTokens: overlap };
}
