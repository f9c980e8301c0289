/**
 * Documents on their way into an index: encoded by the model where they have no vector yet, or analysed into words. Goes
 * by groups of fixed size from the first document on, so that a build that was stopped between groups and resumed has the
 * model see the same neighbours, and writes the same vectors. No group ends within a page, so that whoever commits between
 * groups shows whole pages.
 */
import { IndexStateError, InputError, type Logger, type SparseVector } from '../core/index.ts';
import type { Model } from '../model/index.ts';
import { analyse, quantiseVector, type StoredDocument } from '../search/index.ts';
import type { NewDocument, StoreSettings } from '../store/index.ts';
import { documentText, type Vocabulary } from '../text/index.ts';
import { checkDocument, checkStream, type IndexDocument } from './check-documents.ts';
import type { EngineDocument } from './engine.ts';
import { analysisOf } from './query-language.ts';
import { isTokenWeights, vectorOfTokens } from './token-weights.ts';

/** Documents that are encoded, and then added, together; the rest of a page comes with them. */
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
  /** Told where the model must do with a slower engine. */
  readonly logger?: Logger | undefined;
  /** Told how many documents are encoded by now. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** Documents from anywhere. */
export type Documents = Iterable<IndexDocument> | AsyncIterable<IndexDocument>;

/** Indexes documents, group by group, in their order. */
export async function* indexDocuments(documents: Documents, options: IndexingOptions): AsyncGenerator<IndexedGroup> {
  const { settings, signal, onProgress } = options;
  let numDone = 0;
  for await (const group of groupsOf(documents)) {
    signal?.throwIfAborted();
    const logger = numDone === 0 ? options.logger : undefined; // to the model every group is a stream of its own
    const inGroup = { ...options, logger, onProgress: (done: number) => onProgress?.(numDone + done) };
    yield settings.kind === 'bm25' ? indexWords(group, settings) : await indexVectors(group, inGroup);
    numDone += group.length;
    onProgress?.(numDone);
  }
}

async function* groupsOf(documents: Documents): AsyncGenerator<IndexDocument[]> {
  checkStream(documents);
  let numMet = 0;
  let group: IndexDocument[] = [];
  for await (const document of documents) {
    checkDocument(document, ++numMet);
    if (group.length >= GROUP && group[group.length - 1].page !== document.page) {
      yield group;
      group = [];
    }
    group.push(document);
    if (group.length < GROUP || document.page !== undefined) continue; // of a page more may come
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

function indexWords(group: readonly IndexDocument[], settings: StoreSettings): IndexedGroup {
  const analysis = analysisOf(settings);
  const added = group.map((document) => ({
    document: storedOf(document),
    payload: analyse(documentText(document), analysis),
  }));
  const numTerms = added.reduce((sum, { payload }) => sum + new Set(payload).size, 0);
  return { added, numClamped: 0, numTruncated: 0, numTerms };
}

async function indexVectors(group: readonly IndexDocument[], options: IndexingOptions): Promise<IndexedGroup> {
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
  { model, vocabulary, signal, logger, onProgress }: IndexingOptions,
): Promise<{ next(document: EngineDocument): Encoded }> {
  const missing = group.filter(({ vector }) => vector === undefined);
  if (missing.length > 0 && !model) throw needsModel(missing[0]);
  const texts = missing.map((document) => ({ id: document.id, text: documentText(document) }));
  const encoded: Encoded[] = [];
  if (model && texts.length > 0)
    for await (const document of model.encode(texts, { signal, logger, onProgress })) encoded.push(document);
  let at = 0;
  return {
    next: (document) => {
      const vector = givenVector(document, vocabulary);
      return vector ? { vector, truncated: false } : encoded[at++];
    },
  };
}

function givenVector({ id, vector }: EngineDocument, vocabulary: Vocabulary | undefined): SparseVector | undefined {
  if (vector === undefined) return undefined;
  const fail = (problem: string) => new InputError(`document ${JSON.stringify(id)} ${problem}`);
  if (isSparseVector(vector)) return checkVector(vector, vocabulary?.tokens.length ?? Number.POSITIVE_INFINITY, fail);
  if (!isTokenWeights(vector) || !vocabulary) throw fail('has a vector that is no object of weights by token');
  return vectorOfTokens(vector, vocabulary, fail);
}

/** Its 8-bit codes could be made of anything, and NaN would become a weight. Order and length are checked with the codes. */
function checkVector(vector: SparseVector, numTerms: number, fail: (problem: string) => InputError): SparseVector {
  const { terms, weights } = vector;
  const wrong = weights.findIndex((weight) => !(weight > 0 && weight < Number.POSITIVE_INFINITY));
  if (wrong >= 0) throw fail(`has term ${terms[wrong]} with weight ${weights[wrong]}; weights are positive and finite`);
  const beyond = terms.find((term) => term >= numTerms);
  if (beyond !== undefined) throw fail(`has term ${beyond}; the model of the index has ${numTerms}`);
  return vector;
}

/** A token may be called "terms", but its weight is a number. */
function isSparseVector(vector: NonNullable<EngineDocument['vector']>): vector is SparseVector {
  return vector?.terms instanceof Uint32Array && vector.weights instanceof Float32Array;
}

function storedOf({ vector, ...stored }: IndexDocument): StoredDocument {
  return stored;
}

function needsModel({ id }: EngineDocument): IndexStateError {
  return new IndexStateError(`document ${JSON.stringify(id)} has no vector, and no model was given to make one`, {
    hint: "open the index with the model it was made with: openIndex(folder, { model: await loadModel('…') })",
  });
}
