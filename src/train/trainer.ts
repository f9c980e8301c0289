/**
 * Optimiser steps over a network: a batch of texts in, what happened out. Where batches come from, when to evaluate, save
 * or stop is the loop's. Runs in the calling thread, which a step keeps busy.
 */
import type { Logger, SparseVector } from '../core/index.ts';
import { derivedSeed, Random } from '../core/index.ts';
import type { Matrix, QueryTerms } from '../losses/index.ts';
import type { Checkpoint, LexicalRule } from '../model/index.ts';
import { lexicalPart, WORD_EMBEDDINGS } from '../model/index.ts';
import type { ModelInput, Tokenizer } from '../text/index.ts';
import { otherAnswers, type TrainingBatch } from './batches/training-batch.ts';
import type { TrainConfig } from './config.ts';
import { DocumentShares } from './document-shares.ts';
import { IDF_PARAMETER, PROJECTION } from './network/parameter-specs.ts';
import type { Parameters } from './network/parameters.ts';
import type { NetworkPart } from './network/trainable-encoder.ts';
import { TrainableNetwork } from './network/trainable-network.ts';
import { dropoutSeed, engineOptions } from './network-settings.ts';
import type { ObjectiveResult } from './objective.ts';
import type { OptimiserStep } from './optimiser.ts';
import { optimise } from './optimiser.ts';
import { fitProjection, projectedTable } from './projected-table.ts';
import { freeTable, type QueryTable } from './query-table.ts';
import { learningRateAt } from './schedule.ts';
import { sparseObjective } from './sparse-objective.ts';
import { sampleTerms, type TermSample } from './term-sample.ts';

/** What a step of any training did. */
export type StepFigures = {
  /** L */
  readonly loss: number;
  /** Steps done before this one. */
  readonly step: number;
  /** Of the encoder. */
  readonly learningRate: number;
  /** ‖g‖ before clipping. */
  readonly gradientNorm: number;
  readonly numDocs: number;
  /** Tokens of the documents, without padding. */
  readonly numTokens: number;
};

/** What a step did. */
export type StepReport = StepFigures & Omit<ObjectiveResult, 'dZ' | 'dQueryWeights'>;

/** What a trainer begins with. */
export type TrainerStart = {
  readonly checkpoint: Checkpoint;
  readonly tokenizer: Tokenizer;
  /** Weights of query terms; where they are learned, those to begin with. */
  readonly idf: Float32Array;
  /** What the words of documents weigh by themselves: scores are those of the finished model, which has it too. */
  readonly lexical?: LexicalRule | undefined;
  /** The file in which the outputs of frozen layers are kept; without it they are computed at every step. */
  readonly frozenCache?: string | undefined;
  readonly logger?: Logger | undefined;
  /** Told what a step begins to do; for whoever measures it. */
  readonly onPart?: ((part: StepPart) => void) | undefined;
};

/** What a step does. */
export type StepPart = NetworkPart | 'tokens' | 'objective' | 'optimiser';

/** A batch, the terms of its queries, the lexical parts of its documents, and how many terms each of a sample stands for. */
type ReadBatch = TrainingBatch & {
  readonly asked: AskedTerms;
  readonly lexical: readonly SparseVector[] | undefined;
  readonly standsFor: Float32Array | undefined;
};

/** The terms of a batch's queries, and of those besides. */
type AskedTerms = { readonly queries: readonly QueryTerms[]; readonly moreQueries: readonly QueryTerms[] };

/** Keeps the seeds of samples apart from those of dropout. */
const SAMPLE = 0x73616d70;

/** Steps over one network. Close it when done. */
export class Trainer {
  readonly #config: TrainConfig;
  readonly #tokenizer: Tokenizer;
  readonly #network: TrainableNetwork;
  readonly #onPart: (part: StepPart) => void;
  readonly #lexical: LexicalRule | undefined;
  /** Only for DF-FLOPS. */
  readonly #documentShares: DocumentShares | undefined;
  /** Weights of query terms as they are now. */
  readonly queryTable: QueryTable;

  /** Loads the network. */
  static async create(config: TrainConfig, start: TrainerStart): Promise<Trainer> {
    const { checkpoint, idf, frozenCache, logger, onPart } = start;
    const { data, optim, model } = config;
    const network = await TrainableNetwork.create(checkpoint, {
      idf: { values: idf, isLearned: config.idf.learnable },
      ...engineOptions(config),
      cachePath: frozenCache,
      logger,
      maxDocuments: optim.batchQueries * data.docsPerQuery,
      maxLength: model.maxLength,
      onPart,
    });
    return new Trainer(config, network, start);
  }

  private constructor(config: TrainConfig, network: TrainableNetwork, start: TrainerStart) {
    const { tokenizer, logger, lexical, onPart = () => {} } = start;
    this.#config = config;
    this.#tokenizer = tokenizer;
    this.#network = network;
    this.#onPart = onPart;
    this.#lexical = lexical;
    const { regulariser, dfMomentum } = config.sparsity;
    const numTerms = network.parameters.get(IDF_PARAMETER).weights.length;
    this.#documentShares = regulariser === 'df-flops' ? new DocumentShares(numTerms, dfMomentum) : undefined;
    this.queryTable = config.idf.learnable === 'projected' ? this.#fittedTable(logger) : this.#freeTable();
  }

  /** Weights, gradients and moments, to be saved and put back. */
  get parameters(): Parameters {
    return this.#network.parameters;
  }

  /** What else steps have learned, by name: to be saved and put back, too. */
  get estimates(): ReadonlyMap<string, Float32Array> {
    return new Map(this.#documentShares && [['documentShares', this.#documentShares.values]]);
  }

  /** Takes one step. `step` counts those done before. */
  async step(batch: TrainingBatch, step: number): Promise<StepReport> {
    this.#onPart('tokens');
    const inputs = batch.documents.map((text) => this.#tokenise(text));
    const documents = inputs.map(({ ids }) => ids);
    const lexical = this.#lexicalParts(inputs);
    const asked = this.#askedTerms(batch);
    const sample = this.#sample(asked, step);
    const pass = await this.#network.forward(documents, dropoutSeed(this.#config.optim.seed, step), {
      terms: sample?.terms,
    });
    this.#onPart('objective');
    this.#dropSpecialTerms(pass.z);
    this.#documentShares?.add(pass.z, step);
    const { dZ, dQueryWeights, ...result } = this.#objective(
      pass.z,
      { ...batch, asked, lexical, standsFor: sample?.standsFor },
      step,
    );
    await this.#network.backward(pass, dZ);
    if (dQueryWeights) this.#addQueryGradients(asked, dQueryWeights);
    this.#onPart('optimiser');
    const settings = this.#optimiserStep(step);
    const gradientNorm = optimise(this.#network.kernel, this.parameters, settings);
    const numTokens = documents.reduce((sum, ids) => sum + ids.length, 0);
    const { learningRate } = settings.groups.encoder;
    return { ...result, step, learningRate, gradientNorm, numDocs: documents.length, numTokens };
  }

  /** Pooled logits of a batch as step 0 would see them, special terms at 0: to look at before training begins. */
  async logits(batch: TrainingBatch): Promise<Matrix> {
    const documents = batch.documents.map((text) => this.#tokenise(text).ids);
    const { z } = await this.#network.forward(documents, dropoutSeed(this.#config.optim.seed, 0), { everyLogit: true });
    this.#dropSpecialTerms(z);
    return z;
  }

  /** Releases the engine. */
  close(): Promise<void> {
    return this.#network.close();
  }

  #tokenise(text: string): ModelInput {
    return this.#tokenizer.encodeForModel(text, this.#config.model.maxLength);
  }

  /** The lexical part of each document, where the model has one: by the query weights as they are now, as a model written now would. */
  #lexicalParts(inputs: readonly ModelInput[]): SparseVector[] | undefined {
    const rule = this.#lexical;
    if (!rule) return undefined;
    const terms = { idf: this.queryTable.values(), droppedTerms: this.#tokenizer.vocabulary.specialIds };
    return inputs.map(({ textIds }) => lexicalPart(textIds, rule, terms));
  }

  /** The terms that a step computes; undefined for all. What queries ask for is always among them. */
  #sample({ queries, moreQueries }: AskedTerms, step: number): TermSample | undefined {
    const { sampledTerms } = this.#config.engine;
    if (sampledTerms === null) return undefined;
    const { vocabulary } = this.#tokenizer;
    const seed = derivedSeed(derivedSeed(this.#config.optim.seed, SAMPLE), step);
    const asked = [...queries, ...moreQueries].flatMap(({ terms }) => [...terms]);
    return sampleTerms({ asked, vocabulary, count: sampledTerms, random: new Random(seed) });
  }

  /** Special tokens, and rows that only fill the vocabulary up to a round size, weigh nothing and learn nothing. */
  #dropSpecialTerms(z: Matrix): void {
    const { vocabulary } = this.#tokenizer;
    for (let b = 0; b < z.rows; b++) {
      const row = z.data.subarray(b * z.cols, (b + 1) * z.cols);
      for (const term of vocabulary.specialIds) row[term] = 0;
      row.fill(0, vocabulary.size);
    }
  }

  #objective(z: Matrix, batch: ReadBatch, step: number): ObjectiveResult {
    const { model, rank, sparsity, idf, data } = this.#config;
    const { docsPerQuery } = data;
    const compared = {
      numQueries: batch.queries.length,
      docsPerQuery,
      ...batch.asked,
      teacher: batch.teacher,
      batchTeacher: batch.batchTeacher,
      teacherVectors: batch.teacherVectors,
      lexical: batch.lexical,
      standsFor: batch.standsFor,
      otherAnswers: otherAnswers(batch, docsPerQuery),
      step,
      documentShares: this.#documentShares?.values,
      learnsQueries: idf.learnable !== false,
    };
    return sparseObjective(z, compared, { activation: model.activation, rank: [rank].flat(), sparsity });
  }

  #freeTable(): QueryTable {
    return freeTable(this.parameters.get(IDF_PARAMETER));
  }

  /** A projection of the embeddings as the base has them, which begins near the table that is given. */
  #fittedTable(logger: Logger | undefined): QueryTable {
    const { vocabulary } = this.#tokenizer;
    const [weight, bias] = [PROJECTION.weight, PROJECTION.bias].map((name) => this.parameters.get(name));
    const { weights, gradients, shape } = this.parameters.get(WORD_EMBEDDINGS);
    const data = gradients ? weights.slice() : weights; // those that are frozen stay as they are
    const embeddings = { rows: shape[0], cols: shape[1], data };
    const terms = Uint32Array.from(vocabulary.tokens.keys()).filter((term) => !vocabulary.specialIds.has(term));
    const { w, b, scale, explained, meanError } = fitProjection(this.#freeTable().values(), embeddings, terms);
    weight.weights.set(w);
    bias.weights.set([b]);
    logger?.info(
      `query weights as a projection: begins with ${(100 * explained).toFixed(1)} % of the table's variance, mean error ${meanError.toFixed(3)}`,
    );
    return projectedTable({ weight, bias, embeddings, scale });
  }

  #askedTerms({ queries, moreQueries = [] }: TrainingBatch): AskedTerms {
    const [own, more] = [queries, moreQueries].map((texts) => texts.map((text) => this.#queryTerms(text)));
    return { queries: own, moreQueries: more };
  }

  /** Each token of a query once; those whose weight learning has brought to 0 stay, with weight 0. */
  #queryTerms(text: string): QueryTerms {
    const { vocabulary } = this.#tokenizer;
    const ids = [...new Set(this.#tokenizer.encode(text))].filter((term) => !vocabulary.specialIds.has(term));
    const terms = Uint32Array.from(ids).sort();
    return { terms, weights: this.queryTable.weightsOf(terms) };
  }

  #addQueryGradients({ queries, moreQueries }: AskedTerms, dQueryWeights: readonly Float32Array[]): void {
    [...queries, ...moreQueries].forEach(({ terms }, n) => {
      this.queryTable.addGradients(terms, dQueryWeights[n]);
    });
  }

  #optimiserStep(step: number): OptimiserStep {
    const { optim, idf } = this.#config;
    const { beta1, beta2, epsilon, clip, weightDecay, head } = optim;
    const at = (learningRate: number): number => learningRateAt(step, { ...optim, learningRate });
    const groups = {
      encoder: { learningRate: at(optim.learningRate), weightDecay },
      head: {
        learningRate: at(head.learningRate ?? optim.learningRate),
        weightDecay: head.weightDecay ?? weightDecay,
      },
      idf: {
        learningRate: at(idf.learningRate ?? optim.learningRate),
        weightDecay: idf.weightDecay ?? weightDecay,
      },
    };
    return { groups, beta1, beta2, epsilon, clip, step };
  }
}
