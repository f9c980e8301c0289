/** Models: checkpoints in, document and query vectors out. */
export type { Activation } from './activation.ts';
export {
  ACTIVATIONS,
  activate,
  activateAll,
  activationCount,
  activationSlope,
  addActivationGradient,
} from './activation.ts';
export type { BertConfig } from './bert-config.ts';
export { isDistilBert } from './bert-config.ts';
export type { Dropout, EncoderInputs, EncoderValues, Network, ParameterLookup, Products } from './bert-graph.ts';
export { bertEncoder, floatProducts } from './bert-graph.ts';
export type { CheckOptions } from './check/check-model.ts';
export { checkModel, NUM_CHECKS, testVectorsOf } from './check/check-model.ts';
export type { CheckId, CheckReport, CheckResult, Effect, Verdict } from './check/report.ts';
export { changesScores } from './check/report.ts';
export type { Stoppable, SubjectOptions } from './check/subject.ts';
export type { TestVectors } from './check/test-vectors.ts';
export { formatTestVectors, parseTestVectors } from './check/test-vectors.ts';
export type { CheckTexts } from './check/tricky-texts.ts';
export type { Head, OwnHead, TiedKind } from './checkpoint.ts';
export { Checkpoint, missingHead, TIED, TIED_KINDS, TOPIC, WORD_EMBEDDINGS } from './checkpoint.ts';
export type { ConvertOptions, ConvertReport, TargetLayout } from './convert.ts';
export { convertModel, TARGET_LAYOUTS } from './convert.ts';
export type { DenseEncodeOptions, DenseLoadOptions } from './dense/dense-model.ts';
export { DenseModel, denseProduct } from './dense/dense-model.ts';
export type { DenseOptions, DenseSettings, Pooling, Role } from './dense/dense-settings.ts';
export { POOLINGS } from './dense/dense-settings.ts';
export { looksDense } from './dense/looks-dense.ts';
export type { DecoderInputParts } from './document-graph.ts';
export { decoderInput } from './document-graph.ts';
export type { DocumentToEncode, Encoded, EncodedDocument, EncodeOptions } from './encode.ts';
export type { QueryTexts } from './encode-queries.ts';
export type { ReadQueries } from './fit-topic-head.ts';
export type { RunnerOptions } from './graph-runner.ts';
export type { HubChoice, HubSettings } from './hub/hub-settings.ts';
export { hubSettings } from './hub/hub-settings.ts';
export type { CachedModel, PulledFile } from './hub/model-cache.ts';
export type { ModelName } from './hub/model-name.ts';
export { formatModelName, readModelName } from './hub/model-name.ts';
export type { PulledModel, PullOptions } from './hub/pull-model.ts';
export { pullModel } from './hub/pull-model.ts';
export type { ResolvedModel } from './hub/resolve-model.ts';
export { resolveModel } from './hub/resolve-model.ts';
export type { ImportOptions, ImportReport } from './import.ts';
export { importModel } from './import.ts';
export type { Precision } from './int8/precision.ts';
export { DEFAULT_PRECISION, PRECISIONS } from './int8/precision.ts';
export type { QuantiseOptions, QuantiseReport } from './int8/quantise-model.ts';
export { quantiseModel } from './int8/quantise-model.ts';
export type { Droppable } from './layouts/losses.ts';
export { DROPPABLE } from './layouts/losses.ts';
export type { CheckpointOptions, LayoutName, OptionName, QueryWeights, SourceModel } from './layouts/source-model.ts';
export type { Backend } from './layouts/write-sentence-transformers.ts';
export { tokenizerRules } from './layouts/write-tokenizer.ts';
export type { LexicalRule, LexicalTerms } from './lexical.ts';
export { formatLexical, lexicalPart, parseLexical } from './lexical.ts';
export type { LoadOptions } from './model.ts';
export { loadModel, Model } from './model.ts';
export { modelFiles } from './model-files.ts';
export type { ModelFolder } from './model-folder.ts';
export { networkFile, readModelFolder } from './model-folder.ts';
export { modelIdentity } from './model-identity.ts';
export type { EncoderOptions } from './neural-encoder.ts';
export type { PruneRule } from './prune.ts';
export { formatPruneRule, parsePruneRule, prune } from './prune.ts';
export { loadQueryModel } from './query-model.ts';
export { readIdf } from './query-weights.ts';
export { repruneModel } from './repruned-model.ts';
export type { BertSettings, ModelSettings, OnnxSettings } from './settings.ts';
export { lexicalOf } from './settings.ts';
export type { TermFilter } from './sparse-head.ts';
export { possibleTerms } from './sparse-head.ts';
export type { Dtype } from './tensors/dtype.ts';
export { openTensorFile } from './tensors/open-tensor-file.ts';
export { ReusedMemory } from './tensors/reused-memory.ts';
export type { SafetensorsFile } from './tensors/safetensors.ts';
export { openSafetensors } from './tensors/safetensors.ts';
export type { PlacedTensor, SafetensorsHeader } from './tensors/safetensors-header.ts';
export type { CodesToWrite, FloatsToWrite, TensorToWrite, WritableDtype } from './tensors/safetensors-writer.ts';
export { writeSafetensors } from './tensors/safetensors-writer.ts';
export type { Place, StoredTensor, TensorFile } from './tensors/tensor-file.ts';
export { TERMS_PER_TILE } from './term-products.ts';
export type { TrainedModel } from './trained-model.ts';
export { writeTrainedModel } from './trained-model.ts';
