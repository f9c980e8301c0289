/**
 * Optimiser steps over an encoder whose mean states shall point where the teacher's vectors point:
 *
 *     L = (1/B) Σ_d (1 − cos(h̄_d, t_d))          h̄_d: mean state of document d,  t_d: the teacher's vector of it
 *
 * A batch of texts in, what happened out. Runs in the calling thread, which a step keeps busy.
 */
import { assert, type Logger } from '../core/index.ts';
import { cosineDistance } from '../losses/index.ts';
import type { Checkpoint } from '../model/index.ts';
import type { Tokenizer } from '../text/index.ts';
import type { TrainingBatch } from './batches/training-batch.ts';
import type { Parameters } from './network/parameters.ts';
import { StatesNetwork } from './network/states-network.ts';
import { dropoutSeed, engineOptions } from './network-settings.ts';
import { type OptimiserStep, optimise } from './optimiser.ts';
import { learningRateAt } from './schedule.ts';
import type { StatesConfig } from './states-config.ts';
import type { StepFigures } from './trainer.ts';

/** What a trainer of mean states begins with. */
export type StatesStart = {
  readonly checkpoint: Checkpoint;
  readonly tokenizer: Tokenizer;
  /** The file in which the outputs of frozen layers are kept; without it they are computed at every step. */
  readonly frozenCache?: string | undefined;
  readonly logger?: Logger | undefined;
};

/** What of a configuration its steps depend on. */
type StepConfig = Pick<StatesConfig, 'model' | 'optim' | 'engine'>;

/** Steps over one encoder. Close it when done. */
export class StatesTrainer {
  readonly #config: StepConfig;
  readonly #tokenizer: Tokenizer;
  readonly #network: StatesNetwork;

  /** Loads the network. */
  static async create(config: StepConfig, start: StatesStart): Promise<StatesTrainer> {
    const { checkpoint, tokenizer, frozenCache: cachePath, logger } = start;
    const limits = { maxDocuments: config.optim.batchDocuments, maxLength: config.model.maxLength };
    const options = { ...engineOptions(config), ...limits, cachePath, logger };
    return new StatesTrainer(config, tokenizer, await StatesNetwork.create(checkpoint, options));
  }

  private constructor(config: StepConfig, tokenizer: Tokenizer, network: StatesNetwork) {
    this.#config = config;
    this.#tokenizer = tokenizer;
    this.#network = network;
  }

  /** Weights, gradients and moments, to be saved and put back. */
  get parameters(): Parameters {
    return this.#network.parameters;
  }

  /** Nothing else is learned. */
  get estimates(): ReadonlyMap<string, Float32Array> {
    return new Map();
  }

  /** Takes one step. `step` counts those done before. */
  async step(batch: TrainingBatch, step: number): Promise<StepFigures> {
    const { pass, loss, dH, numTokens } = await this.#compare(batch, step);
    await this.#network.backward(pass, dH);
    const settings = this.#optimiserStep(step);
    const gradientNorm = optimise(this.#network.kernel, this.parameters, settings);
    const { learningRate } = settings.groups.encoder;
    return { loss, step, learningRate, gradientNorm, numDocs: batch.documents.length, numTokens };
  }

  /** The loss of a batch as step 0 would see it: to look at before training begins. */
  async distance(batch: TrainingBatch): Promise<number> {
    return (await this.#compare(batch, 0)).loss;
  }

  async #compare(batch: TrainingBatch, step: number) {
    const { model, optim } = this.#config;
    assert(batch.teacherStates !== undefined, 'a batch without vectors of the teacher');
    const documents = batch.documents.map((text) => this.#tokenizer.encodeForModel(text, model.maxLength).ids);
    const pass = await this.#network.forward(documents, dropoutSeed(optim.seed, step));
    const numTokens = documents.reduce((sum, ids) => sum + ids.length, 0);
    return { pass, numTokens, ...cosineDistance(pass.states, batch.teacherStates) };
  }

  #optimiserStep(step: number): OptimiserStep {
    const { optim } = this.#config;
    const { beta1, beta2, epsilon, clip, weightDecay } = optim;
    const encoder = { learningRate: learningRateAt(step, optim), weightDecay };
    return { groups: { encoder, head: encoder, idf: encoder }, beta1, beta2, epsilon, clip, step };
  }

  /** Releases the engine. */
  close(): Promise<void> {
    return this.#network.close();
  }
}
