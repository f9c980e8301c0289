/**
 * A checkpoint as transformers' BertForMaskedLM or DistilBertForMaskedLM: config.json and model.safetensors under the
 * names and in the shapes that these have. A tied head has no place here: neither puts the input's embedding back.
 * Weights are written in float32, whatever they were: transformers 5 computes in the type that it finds.
 */
import { join } from 'node:path';
import type { Vocabulary } from '../../text/index.ts';
import type { BertConfig } from '../bert-config.ts';
import { isDistilBert } from '../bert-config.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { WEIGHTS_FILE } from '../checkpoint.ts';
import { DECODER_BIAS, distilBertName, MLM_BIAS, WORD_EMBEDDINGS } from '../tensor-names.ts';
import type { TensorToWrite } from '../tensors/safetensors-writer.ts';
import { writeSafetensors } from '../tensors/safetensors-writer.ts';
import { readNetworkTensor } from './network-weights.ts';
import { writeJson } from './write-tokenizer.ts';

/** Writes the two files. Special tokens are silenced: nobody else sets them to 0 afterwards. */
export async function writeMaskedLm(folder: string, checkpoint: Checkpoint, vocabulary: Vocabulary): Promise<void> {
  await writeConfig(folder, checkpoint, vocabulary);
  const terms = { numTerms: vocabulary.size, silenced: vocabulary.specialIds };
  const tensors: TensorToWrite[] = [];
  for (const name of checkpoint.usedNames) {
    const tensor = await readNetworkTensor(checkpoint, name, terms);
    for (const written of writtenNames(checkpoint, name)) tensors.push({ name: written, dtype: 'F32', ...tensor });
  }
  await writeSafetensors(join(folder, WEIGHTS_FILE), tensors, { format: 'pt' });
}

/** What the tensor is called there. BERT's bias has two names, and it depends on the decoder which of them counts. */
function writtenNames({ config, decoderBiasName }: Checkpoint, name: string): string[] {
  const isBias = name === decoderBiasName;
  if (isDistilBert(config)) return [distilBertName(isBias ? MLM_BIAS : name)];
  return isBias ? [MLM_BIAS, DECODER_BIAS] : [name];
}

/** Writes config.json alone: what an ONNX file beside it is a network of. */
export async function writeConfig(folder: string, checkpoint: Checkpoint, vocabulary: Vocabulary): Promise<void> {
  const { config, decoderName } = checkpoint;
  await writeJson(join(folder, 'config.json'), {
    ...(isDistilBert(config) ? distilBertKeys(config) : bertKeys(config)),
    vocab_size: vocabulary.size,
    max_position_embeddings: config.maxPositions,
    initializer_range: 0.02,
    pad_token_id: vocabulary.idOf('[PAD]'), // left out where there is none
    tie_word_embeddings: decoderName === WORD_EMBEDDINGS,
  });
}

/** transformers' names for the activations inside a network. */
const HIDDEN_ACT = { gelu: 'gelu', 'gelu-tanh': 'gelu_new', relu: 'relu' } as const;

function bertKeys(config: BertConfig): Record<string, unknown> {
  return {
    architectures: ['BertForMaskedLM'],
    model_type: 'bert',
    hidden_size: config.hiddenSize,
    num_hidden_layers: config.numLayers,
    num_attention_heads: config.numHeads,
    intermediate_size: config.intermediateSize,
    type_vocab_size: config.numTypes,
    layer_norm_eps: config.layerNormEpsilon,
    hidden_act: HIDDEN_ACT[config.hiddenActivation ?? 'gelu'],
    hidden_dropout_prob: 0.1,
    attention_probs_dropout_prob: 0.1,
  };
}

function distilBertKeys(config: BertConfig): Record<string, unknown> {
  return {
    architectures: ['DistilBertForMaskedLM'],
    model_type: 'distilbert',
    dim: config.hiddenSize,
    n_layers: config.numLayers,
    n_heads: config.numHeads,
    hidden_dim: config.intermediateSize,
    activation: HIDDEN_ACT[config.hiddenActivation ?? 'gelu'],
    sinusoidal_pos_embds: false,
    dropout: 0.1,
    attention_dropout: 0.1,
  };
}
