/**
 * How near the mean states are to the teacher's vectors now: the encoder as it would be written, over documents that it does
 * not learn from. Where a collection is given, also how well the teacher's queries find the student's documents.
 */
import { createHash } from 'node:crypto';
import { InputError, InterruptedError } from '../../core/index.ts';
import { type Document, documentText, readDocuments } from '../../data/index.ts';
import { evaluateRun } from '../../eval/index.ts';
import { DenseModel, denseProduct } from '../../model/index.ts';
import type { StatesConfig } from '../states-config.ts';
import { type EvaluationOptions, identityOf, type JudgedTexts, openJudged } from './evaluation.ts';
import type { StateTeacher } from './state-teacher.ts';
import type { RunEvaluation } from './task.ts';

/** By what the best encoder is chosen. */
export const BEST_STATES = 'cosine';

const NDCG = 'ndcg@10';

type EvaluateConfig = NonNullable<StatesConfig['evaluate']>;

/** What is looked at. */
type EvaluatedTexts = {
  /** Those whose cosines count. */
  readonly documents: readonly Document[];
  readonly judged: JudgedTexts | undefined;
};

/** Documents that are opened once and encoded again and again. */
export class StatesEvaluator {
  readonly #texts: EvaluatedTexts;
  readonly #teacher: StateTeacher;

  /** Reads the documents, of large files and collections the part that the configuration wants. */
  static async open(
    config: EvaluateConfig,
    teacher: StateTeacher,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<StatesEvaluator> {
    const { collection } = config;
    const judged = collection === undefined ? undefined : await openJudged({ ...config, collection }, { signal });
    const documents = config.documents === undefined ? judged?.documents : await readSome(config, config.documents);
    return new StatesEvaluator({ documents: documents ?? [], judged }, teacher);
  }

  private constructor(texts: EvaluatedTexts, teacher: StateTeacher) {
    this.#texts = texts;
    this.#teacher = teacher;
  }

  /** sha256 over all texts and judgements. */
  get identity(): string {
    const { documents, judged } = this.#texts;
    const hash = createHash('sha256');
    for (const document of documents) hash.update(JSON.stringify(document));
    return hash.update(judged ? identityOf(judged) : '').digest('hex');
  }

  /** Documents that are encoded at each evaluation. */
  get numDocs(): number {
    return this.#all.length;
  }

  /** Encodes with the model in a folder, and compares. */
  async evaluate(model: string, _scratch: string, options: EvaluationOptions): Promise<RunEvaluation> {
    const { documents, judged } = this.#texts;
    const states = await this.#encode(model, options);
    const stateOf = (document: Document): Float32Array => states.get(document) ?? new Float32Array();
    const vectors = await this.#teacher.vectors('document', documents.map(documentText), options.signal);
    const cosines = documents.map((document, i) => denseProduct(stateOf(document), vectors[i]) / lengthOf(vectors[i]));
    const cosine = cosines.reduce((sum, value) => sum + value, 0) / cosines.length;
    if (!judged) return { values: { [BEST_STATES]: cosine } };
    return { values: { [BEST_STATES]: cosine, [NDCG]: await this.#ndcg(judged, stateOf, options.signal) } };
  }

  get #all(): readonly Document[] {
    const { documents, judged } = this.#texts;
    return [...new Set([...documents, ...(judged?.documents ?? [])])];
  }

  /** Unit states of all documents. */
  async #encode(folder: string, { threads, signal, onProgress }: EvaluationOptions) {
    const all = this.#all;
    const texts = all.map((document) => ({ id: document.id, text: documentText(document) }));
    const model = await DenseModel.load(folder, { threads, normalise: true });
    const states = new Map<Document, Float32Array>();
    try {
      for await (const { vector } of model.encode(texts, { role: 'document', signal, onProgress }))
        states.set(all[states.size], vector);
    } finally {
      await model.close();
    }
    return states;
  }

  /** NDCG@10 of the teacher's queries over all judged documents, by their products with the states. */
  async #ndcg(
    { collection: { queries, qrels }, documents }: JudgedTexts,
    stateOf: (document: Document) => Float32Array,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    const texts = queries.map(({ text }) => text);
    const vectors = await this.#teacher.vectors('query', texts, signal);
    if (signal?.aborted) throw new InterruptedError();
    const run = queries.map(({ id }, i) => {
      const hits = documents.map((document) => ({
        id: document.id,
        score: denseProduct(vectors[i], stateOf(document)),
      }));
      return [id, hits] as const;
    });
    return evaluateRun(new Map(run), qrels, { metrics: [NDCG], averageOver: 'judged' }).mean[NDCG];
  }
}

/** The first documents of a file. */
async function readSome({ maxDocuments }: EvaluateConfig, input: string): Promise<Document[]> {
  const documents: Document[] = [];
  for await (const document of readDocuments(input)) {
    if (documents.length >= (maxDocuments ?? Number.POSITIVE_INFINITY)) break;
    documents.push(document);
  }
  if (documents.length === 0) throw new InputError(`${input} has no documents to evaluate on`);
  return documents;
}

function lengthOf(vector: Float32Array): number {
  return Math.sqrt(denseProduct(vector, vector));
}
