/**
 * What checkpoints call their tensors, in BertForMaskedLM's words: the names that the rest of src/model uses. Knows nothing
 * of files and shapes.
 *
 *     BERT          bert.encoder.layer.3.output.LayerNorm.weight         LayerNorm.gamma where it comes from TensorFlow
 *     DistilBERT    distilbert.transformer.layer.3.output_layer_norm.weight
 *     wrapped       module.…, model.…, auto_model.…, 0.auto_model.…; encoders saved alone have no "bert." either
 */
import { CheckpointError } from '../core/index.ts';
import type { BertConfig } from './bert-config.ts';
import { isDistilBert } from './bert-config.ts';
import { tensorLabel } from './tensors/weights-file.ts';

/** Names of the tensors that have more than one meaning to us. */
export const WORD_EMBEDDINGS = 'bert.embeddings.word_embeddings.weight';
/** The decoder's weights, where they are not the word embeddings. */
export const DECODER = 'cls.predictions.decoder.weight';
/** The bias of the MLM head. */
export const MLM_BIAS = 'cls.predictions.bias';
/** The bias that counts in checkpoints saved untied; elsewhere it is MLM_BIAS itself, or left out. */
export const DECODER_BIAS = 'cls.predictions.decoder.bias';

/** Names of the tied head's tensors (tied-head.ts). */
export const TIED = {
  bias: 'lzero.tied_head.bias',
  scale: 'lzero.tied_head.scale',
  inputShare: 'lzero.tied_head.input_share',
  pooled: 'lzero.tied_head.pooled',
} as const;

/** Names of the topic head's tensors (document-graph.ts). */
export const TOPIC = {
  terms: 'lzero.topic_head.terms',
  mean: 'lzero.topic_head.mean',
  bias: 'lzero.topic_head.bias',
  ownBias: 'lzero.topic_head.own_bias',
} as const;

/** Parts of a DistilBERT layer, and what BERT calls them. */
const DISTILBERT_LAYER = [
  ['attention.q_lin', 'attention.self.query'],
  ['attention.k_lin', 'attention.self.key'],
  ['attention.v_lin', 'attention.self.value'],
  ['attention.out_lin', 'attention.output.dense'],
  ['sa_layer_norm', 'attention.output.LayerNorm'],
  ['ffn.lin1', 'intermediate.dense'],
  ['ffn.lin2', 'output.dense'],
  ['output_layer_norm', 'output.LayerNorm'],
] as const;

/** The other way round. */
const BERT_LAYER = DISTILBERT_LAYER.map(([own, usual]) => [usual, own] as const);

/** Tensors of DistilBERT's MLM head, and what BERT calls them. */
const DISTILBERT_HEAD = [
  ['vocab_transform.weight', 'cls.predictions.transform.dense.weight'],
  ['vocab_transform.bias', 'cls.predictions.transform.dense.bias'],
  ['vocab_layer_norm.weight', 'cls.predictions.transform.LayerNorm.weight'],
  ['vocab_layer_norm.bias', 'cls.predictions.transform.LayerNorm.bias'],
  ['vocab_projector.weight', DECODER],
  ['vocab_projector.bias', MLM_BIAS],
] as const;

/** Where BERT's own words begin in a name, whatever stands before them. */
const ENCODER_PART = /(?:^|\.)((?:embeddings\.(?:\w+_embeddings|LayerNorm)|encoder\.layer\.\d+)\..+)$/;
const HEAD_PART = /(?:^|\.)(cls\.predictions\..+)$/;
const DISTILBERT_LAYER_PART = /(?:^|\.)transformer\.layer\.(\d+)\.(.+)$/;
const DISTILBERT_HEAD_PART = /(?:^|\.)(vocab_(?:transform|layer_norm|projector)\.(?:weight|bias))$/;

/** Longer names are nobody's; looking for parts in them could take a hostile file's reader for ever. */
const LONGEST_NAME = 500;

/** BertForMaskedLM's name for a tensor of a file; what is neither encoder nor head keeps its own. */
export function usualName(name: string): string {
  if (name.length > LONGEST_NAME) return name;
  const encoder = ENCODER_PART.exec(name);
  if (encoder) return `bert.${withoutGamma(encoder[1])}`;
  const head = HEAD_PART.exec(name);
  if (head) return withoutGamma(head[1]);
  return usualNameOfDistilBert(name) ?? name;
}

/** LayerNorm's parameters in checkpoints that TensorFlow made. */
function withoutGamma(name: string): string {
  return name.replace(/\.LayerNorm\.gamma$/, '.LayerNorm.weight').replace(/\.LayerNorm\.beta$/, '.LayerNorm.bias');
}

function usualNameOfDistilBert(name: string): string | undefined {
  const [, layer, part] = DISTILBERT_LAYER_PART.exec(name) ?? [];
  if (part !== undefined) return `bert.encoder.layer.${layer}.${replaceStart(part, DISTILBERT_LAYER)}`;
  const [, head] = DISTILBERT_HEAD_PART.exec(name) ?? [];
  return DISTILBERT_HEAD.find(([own]) => own === head)?.[1];
}

/** The name with its first words replaced; one that begins with none of them stays. */
function replaceStart(name: string, words: readonly (readonly [from: string, to: string])[]): string {
  const found = words.find(([from]) => name.startsWith(`${from}.`));
  return found ? found[1] + name.slice(found[0].length) : name;
}

/** DistilBertForMaskedLM's name for a tensor that BertForMaskedLM calls `name`: what a file for others must use. */
export function distilBertName(name: string): string {
  const head = DISTILBERT_HEAD.find(([, usual]) => usual === name);
  if (head) return head[0];
  const [, layer, part] = /^bert\.encoder\.layer\.(\d+)\.(.+)$/.exec(name) ?? [];
  if (part !== undefined) return `distilbert.transformer.layer.${layer}.${replaceStart(part, BERT_LAYER)}`;
  return name.replace(/^bert\./, 'distilbert.');
}

/** The name of a tensor in a file that others load beside config.json: BertForMaskedLM's, or for DistilBERT its own. */
export function nameForOthers(name: string, config: Pick<BertConfig, 'family'>): string {
  return isDistilBert(config) ? distilBertName(name) : name;
}

/**
 * Whether transformers reads a tensor of a file in the place that BertForMaskedLM calls `usual`: under its own name, with
 * "bert." once more or once less before it, and gamma and beta for LayerNorm's parameters (`from_pretrained` of 5.22).
 */
export function isKnownToOthers(stored: string, usual: string, config: Pick<BertConfig, 'family'>): boolean {
  const own = nameForOthers(usual, config);
  const prefix = isDistilBert(config) ? 'distilbert.' : 'bert.';
  return [own, prefix + own, own.replace(prefix, '')].includes(withoutGamma(stored));
}

/**
 * BertForMaskedLM's names → names in the file. Two tensors under one name, as in a file with an encoder for queries and
 * one for documents, are refused: which is meant, nobody says.
 */
export function namesInFile(names: Iterable<string>, path: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of names) {
    const usual = usualName(name);
    const other = found.get(usual);
    if (other !== undefined) {
      throw new CheckpointError(
        `${path}: has both ${tensorLabel(other)} and ${tensorLabel(name)}: the same part of two networks`,
        {
          hint: 'save the network that encodes documents alone',
        },
      );
    }
    found.set(usual, name);
  }
  return found;
}
