/** The options by which commands name a model, and their values as the library takes them. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  ACTIVATIONS,
  type Activation,
  type CheckpointOptions,
  loadModel,
  type Model,
  PRECISIONS,
  type Precision,
  parsePruneRule,
} from '../model/index.ts';
import type { CliContext } from './context.ts';

/** Names the model of commands that are given none. */
export const MODEL_VARIABLE = 'LZERO_MODEL';

/** What a query needs of a model. */
export type QueryModelOptions = Pick<ModelOptions, 'model' | 'idf'>;

/** `--model`, how it is run and, for checkpoints that have no lzero.json, what they leave open. */
export type ModelOptions = { readonly model?: string } & PrecisionOption & RawCheckpointOptions;

/** `--precision` as commander gives it. */
export type PrecisionOption = { readonly precision?: Precision };

/** The options of a bare checkpoint as commander gives them. */
export type RawCheckpointOptions = {
  readonly activation?: Activation;
  readonly encodeLength?: number;
  readonly prune?: string;
  readonly idf?: string;
};

/** Begins the help of options that a model folder of our own does not take. */
export const BARE = 'for a checkpoint without lzero.json: ';

/** Adds `--model`, `--precision` and the options of bare checkpoints. */
export function addModelOptions(command: Command): Command {
  return addCheckpointOptions(addPrecisionOption(addModelOption(command)), BARE);
}

/** Adds `--precision`. */
export function addPrecisionOption(command: Command): Command {
  const text = 'arithmetic of the network (default: int8 for quantised folders, else fp32)';
  return command.addOption(new Option('--precision <type>', text).choices([...PRECISIONS]));
}

/** Adds `--model` and the one option of bare checkpoints that changes queries. */
export function addQueryModelOptions(command: Command): Command {
  return addIdfOption(addModelOption(command), BARE);
}

/** Adds `--model`. */
export function addModelOption(command: Command): Command {
  return command.option(
    '--model <folder>',
    `model folder, Hugging Face checkpoint, OWNER/NAME of a pulled model, or bow, words alone (default: $${MODEL_VARIABLE}, else the embedded model)`,
  );
}

function addIdfOption(command: Command, when: string): Command {
  const text = 'query weights: an idf.json, or "none" for 1 (default: its idf.json, or the embedded)';
  return command.option('--idf <file>', when + text);
}

/** Adds the options that decide how a checkpoint's vectors are made. */
export function addCheckpointOptions(command: Command, when: string): Command {
  const activation = new Option(
    '--activation <name>',
    `${when}relu = log(1+relu z), l0 = log(1+log(1+relu z)), … (default: relu)`,
  ).choices([...ACTIVATIONS]);
  command
    .addOption(activation)
    .option('--encode-length <tokens>', `${when}tokens read of a document (default: 512)`, positiveInteger)
    .option('--prune <rule>', `${when}none, ratio:R, mass:A, top-k:K or threshold:X (default: none)`);
  return addIdfOption(command, when);
}

/** The same options as the library takes them. */
export function checkpointOptions({ activation, encodeLength, prune, idf }: RawCheckpointOptions): CheckpointOptions {
  return { activation, encodeLength, prune: prune === undefined ? undefined : parsePruneRule(prune), idf };
}

/** Loads the model that the options name, or else the environment. */
export function modelFrom({ env }: Pick<CliContext, 'env'>, options: ModelOptions): Promise<Model> {
  const name = options.model ?? env[MODEL_VARIABLE];
  return loadModel(name, { ...checkpointOptions(options), precision: options.precision });
}

/** A number of at least 1 from the command line. */
export function positiveInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('expected a whole number above 0.');
}

/** A number above 0 from the command line. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('expected a number above 0.');
}
