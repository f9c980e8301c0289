/**
 * Documents on their way into an index: encoded by the model where they have no vector yet, or analysed into words. Goes
 * by groups of fixed size from the first document on, so that a build that was stopped between groups and resumed has the
 * model see the same neighbours, and writes the same vectors.
 */
import { IndexStateError, InputError, type SparseVector } from '../core/index.ts';
import type { Model } from '../model/index.ts';
import { analyse, quantiseVector, type StoredDocument } from '../search/index.ts';
import type { NewDocument, StoreSettings } from '../store/index.ts';
import { documentText, type Vocabulary } from '../text/index.ts';
import { checkDocument, checkStream } from './check-documents.ts';
import type { EngineDocument } from './engine.ts';
import { analysisOf } from './query-language.ts';
import { isTokenWeights, vectorOfTokens } from './token-weights.ts';

/** Documents that are encoded, and then added, together. */
export const GROUP = 512;

/** A group of documents for the writer. */
export type IndexedGroup = {
  readonly added: readonly NewDocument[];
  /** Weights above the largest that 8 bits hold. */
  readonly numClamped: number;
  /** Documents of which the model read only the beginning. */
  readonly numTruncated: number;
  readonly numTerms: number;
};

/** How documents are indexed. */
export type IndexingOptions = {
  readonly settings: StoreSettings;
  /** Needed for documents without a vector in an index of learned vectors. */
  readonly model: Model | undefined;
  /** Needed for vectors that are given by token. */
  readonly vocabulary: Vocabulary | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told how many documents are encoded by now. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** Documents from anywhere. */
export type Documents = Iterable<EngineDocument> | AsyncIterable<EngineDocument>;

/** Indexes documents, group by group, in their order. */
export async function* indexDocuments(documents: Documents, options: IndexingOptions): AsyncGenerator<IndexedGroup> {
  const { settings, signal, onProgress } = options;
  let numDone = 0;
  for await (const group of groupsOf(documents)) {
    signal?.throwIfAborted();
    yield settings.kind === 'bm25'
      ? indexWords(group, settings)
      : await indexVectors(group, { ...options, onProgress: (inGroup) => onProgress?.(numDone + inGroup) });
    numDone += group.length;
    onProgress?.(numDone);
  }
}

async function* groupsOf(documents: Documents): AsyncGenerator<EngineDocument[]> {
  checkStream(documents);
  let numMet = 0;
  let group: EngineDocument[] = [];
  for await (const document of documents) {
    checkDocument(document, ++numMet);
    group.push(document);
    if (group.length < GROUP) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

function indexWords(group: readonly EngineDocument[], settings: StoreSettings): IndexedGroup {
  const analysis = analysisOf(settings);
  const added = group.map((document) => ({
    document: storedOf(document),
    payload: analyse(documentText(document), analysis),
  }));
  const numTerms = added.reduce((sum, { payload }) => sum + new Set(payload).size, 0);
  return { added, numClamped: 0, numTruncated: 0, numTerms };
}

async function indexVectors(group: readonly EngineDocument[], options: IndexingOptions): Promise<IndexedGroup> {
  const { settings } = options;
  const tally = { numClamped: 0, numTruncated: 0, numTerms: 0 };
  const encoded = await encodeMissing(group, options);
  const added = group.map((document): NewDocument => {
    const { vector, truncated } = encoded.next(document);
    const { codes, numClamped } = quantiseVector(vector, settings.scale ?? 1);
    tally.numClamped += numClamped;
    tally.numTruncated += truncated ? 1 : 0;
    tally.numTerms += vector.terms.length;
    return { document: storedOf(document), payload: codes, ...(settings.storeVectors ? { vector } : {}) };
  });
  return { added, ...tally };
}

type Encoded = { readonly vector: SparseVector; readonly truncated: boolean };

/** Encodes the documents of a group that have no vector. `next` gives the vector of each, in the order of the group. */
async function encodeMissing(
  group: readonly EngineDocument[],
  { model, vocabulary, signal, onProgress }: IndexingOptions,
): Promise<{ next(document: EngineDocument): Encoded }> {
  const missing = group.filter(({ vector }) => vector === undefined);
  if (missing.length > 0 && !model) throw needsModel(missing[0]);
  const texts = missing.map((document) => ({ id: document.id, text: documentText(document) }));
  const encoded: Encoded[] = [];
  if (model && texts.length > 0)
    for await (const document of model.encode(texts, { signal, onProgress })) encoded.push(document);
  let at = 0;
  return {
    next: (document) => {
      const vector = givenVector(document, vocabulary);
      return vector ? { vector, truncated: false } : encoded[at++];
    },
  };
}

function givenVector({ id, vector }: EngineDocument, vocabulary: Vocabulary | undefined): SparseVector | undefined {
  if (vector === undefined || isSparseVector(vector)) return vector;
  const fail = (problem: string) => new InputError(`document ${JSON.stringify(id)} ${problem}`);
  if (!isTokenWeights(vector) || !vocabulary) throw fail('has a vector that is no object of weights by token');
  return vectorOfTokens(vector, vocabulary, fail);
}

/** A token may be called "terms", but its weight is a number. */
function isSparseVector(vector: NonNullable<EngineDocument['vector']>): vector is SparseVector {
  return vector?.terms instanceof Uint32Array && vector.weights instanceof Float32Array;
}

function storedOf({ vector, ...stored }: EngineDocument): StoredDocument {
  return stored;
}

function needsModel({ id }: EngineDocument): IndexStateError {
  return new IndexStateError(`document ${JSON.stringify(id)} has no vector, and no model was given to make one`, {
    hint: "open the index with the model it was made with: openIndex(folder, { model: await loadModel('…') })",
  });
}
