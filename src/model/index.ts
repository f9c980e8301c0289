/** Models: checkpoints in, document and query vectors out. */
export type { Activation } from './activation.ts';
export { ACTIVATIONS, activate, activationCount } from './activation.ts';
export type { Head } from './checkpoint.ts';
export { Checkpoint } from './checkpoint.ts';
export type { DocumentToEncode, EncodedDocument, EncodeOptions } from './encode.ts';
export type { ImportOptions, ImportReport } from './import.ts';
export { importModel } from './import.ts';
export { loadModel, Model } from './model.ts';
export type { CheckpointOptions } from './model-folder.ts';
export { readIdf } from './model-folder.ts';
export type { PruneRule } from './prune.ts';
export { formatPruneRule, parsePruneRule, prune } from './prune.ts';
export type { SafetensorsFile } from './safetensors.ts';
export { openSafetensors } from './safetensors.ts';
export type { TensorToWrite, WritableDtype } from './safetensors-writer.ts';
export { writeSafetensors } from './safetensors-writer.ts';
export type { BertSettings, ModelSettings } from './settings.ts';
