/** Documents in groups, and their vectors: given ones are checked, others the model makes. Knows no server. */
import { InputError, type Logger, type SparseVector } from '../core/index.ts';
import { checkDocument, checkStream, type EngineDocument, isTokenWeights, vectorOfTokens } from '../engines/index.ts';
import type { Model } from '../model/index.ts';
import { documentText } from '../text/index.ts';

/** Documents that are encoded together, as in an embedded index: the same neighbours give the same vectors. */
const GROUP = 512;

/** Documents in groups of fixed size, in their order. */
export async function* groupsOf(
  documents: Iterable<EngineDocument> | AsyncIterable<EngineDocument>,
): AsyncGenerator<EngineDocument[]> {
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

/** How a group is encoded. */
export type EncodeGroupOptions = {
  readonly signal?: AbortSignal | undefined;
  readonly logger?: Logger | undefined;
  /** Told of each document of which the model read only the beginning. */
  readonly onTruncated?: (() => void) | undefined;
};

/** One vector for each document: its own, or what the model makes of its text; an error where its own cannot be taken. */
export async function vectorsOf(
  group: readonly EngineDocument[],
  model: Model,
  { signal, logger, onTruncated }: EncodeGroupOptions,
): Promise<(SparseVector | InputError)[]> {
  const missing = group.filter(({ vector }) => vector === undefined);
  const texts = missing.map((document) => ({ id: document.id, text: documentText(document) }));
  const encoded: SparseVector[] = [];
  for await (const { vector, truncated } of model.encode(texts, { signal, logger })) {
    encoded.push(vector);
    if (truncated) onTruncated?.();
  }
  let at = 0;
  return group.map((document) => givenVector(document, model) ?? encoded[at++]);
}

function givenVector(document: EngineDocument, model: Model): SparseVector | InputError | undefined {
  try {
    return parsedVector(document, model);
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}

function parsedVector({ id, vector }: EngineDocument, { tokenizer }: Model): SparseVector | undefined {
  if (vector === undefined) return undefined;
  if (vector.terms instanceof Uint32Array && vector.weights instanceof Float32Array)
    return { terms: vector.terms, weights: vector.weights };
  const fail = (problem: string) => new InputError(`document ${JSON.stringify(id)} ${problem}`);
  if (!isTokenWeights(vector)) throw fail('has a vector that is no object of weights by token');
  return vectorOfTokens(weightsOf(vector), tokenizer.vocabulary, fail);
}

/** For the compiler, which takes `terms` for a possible list. */
function weightsOf(vector: NonNullable<EngineDocument['vector']>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(vector));
}
