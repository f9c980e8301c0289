/**
 * A model folder with its matrices in 8-bit codes: a quarter of the size, and the vectors that the source gives with
 * precision int8. Tables of terms and feed-forward layers can be in 4-bit codes, of half the size and with vectors that are
 * nearly the same. Everything
 * else is as in the source.
 */
import { assert } from '../../core/index.ts';
import { makeModel } from '../import.ts';
import type { CheckpointOptions } from '../layouts/source-model.ts';
import type { BertSettings } from '../settings.ts';
import type { AskedCodes, MatrixCodes } from './four-bits.ts';

/** How to quantise a model; checkpoints without lzero.json take the options that they leave open. */
export type QuantiseOptions = CheckpointOptions &
  AskedCodes & {
    /** Folder of the model or checkpoint to read, or the name of a pulled one. */
    readonly source: string;
    /** Folder to make. */
    readonly output: string;
    /** Replace a model folder that is there. */
    readonly force?: boolean | undefined;
    /** Stops the work with `InterruptedError`; nothing is made then. */
    readonly signal?: AbortSignal | undefined;
  };

/** What was made. */
export type QuantiseReport = MatrixCodes & {
  readonly settings: BertSettings;
  /** Size of the weights, before and after. */
  readonly sourceBytes: number;
  readonly sizeBytes: number;
};

/** Makes the folder. */
export async function quantiseModel(options: QuantiseOptions): Promise<QuantiseReport> {
  const { settings, codes, weightBytes } = await makeModel({ ...options, precision: 'int8' });
  assert(settings.kind === 'bert' && weightBytes !== undefined && codes !== undefined, 'no weights were quantised');
  return { settings, ...codes, sourceBytes: weightBytes.source, sizeBytes: weightBytes.made };
}
