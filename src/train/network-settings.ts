/** What trainings of every kind make of their settings for the engine, and the seeds of their dropout. */
import { availableParallelism } from 'node:os';
import { derivedSeed } from '../core/index.ts';
import type { NetworkOptions } from './network/trainable-encoder.ts';
import type { RunConfig } from './states-config.ts';

/** How the engine runs a network. */
export function engineOptions({ engine }: Pick<RunConfig, 'engine'>) {
  return {
    mode: engine.activations,
    frozenLayers: engine.freezeLayers,
    freezeEmbeddings: engine.freezeEmbeddings,
    freezeFeedForward: engine.freezeFeedForward,
    maxCacheBytes: engine.frozenCacheBytes,
    dropout: engine.dropout,
    device: engine.device,
    threads: engine.threads ?? availableParallelism(),
    microBatchTokens: engine.microBatchTokens,
  } satisfies Partial<NetworkOptions>;
}

/** Keeps the seeds of dropout apart from those of batches, which count sources and passes from 0. */
const DROPOUT = 0x64726f70;

/** A number that the run's seed and the step decide. */
export function dropoutSeed(seed: number, step: number): number {
  return derivedSeed(derivedSeed(seed, DROPOUT), step);
}
