/**
 * An encoder by itself, without a head for terms: read of any folder that has one, and written as sentence-transformers has
 * dense encoders, with the mean of the hidden states as the vector of a text.
 *
 *     modules.json    [Transformer, Pooling, Normalize]
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../files/index.ts';
import type { Checkpoint } from './checkpoint.ts';
import { WEIGHTS_FILE } from './checkpoint.ts';
import { copyFiles, makeFolder } from './folder-output.ts';
import { readSourceModel } from './layouts/find-layout.ts';
import { MODULES_FILE } from './layouts/st-modules.ts';
import { completeModel, type ModelFolder, TOKENIZER_FILES, withOrigin } from './model-folder.ts';
import { nameForOthers } from './tensor-names.ts';
import type { WritableDtype } from './tensors/safetensors-writer.ts';
import { writeSafetensors } from './tensors/safetensors-writer.ts';

/**
 * Reads a folder whose encoder alone is wanted: what it says of pooling, terms or queries does not count.
 *
 * @param name what a pulled model is called
 */
export async function readEncoderFolder(folder: string, name?: string | undefined): Promise<ModelFolder> {
  return await completeModel(withOrigin(await readSourceModel(folder, { ignoreModules: true }), name), 'none');
}

/** An encoder to be written. */
export type TrainedEncoder = {
  /** What it is called. */
  readonly name: string;
  /** What it was trained from. */
  readonly base: ModelFolder;
  /** The base's network. */
  readonly checkpoint: Checkpoint;
  /** The tensors that are written, by the names of the checkpoint. */
  readonly tensors: Iterable<{ readonly name: string; readonly values: Float32Array }>;
  readonly dtype: WritableDtype;
  /** Tokens of a text that are read. */
  readonly maxLength: number;
  /** How it was trained, for the card. */
  readonly training: string;
};

/** Writes the folder, whole or not at all, in place of an encoder that is there. */
export async function writeTrainedEncoder(output: string, encoder: TrainedEncoder): Promise<void> {
  const { base, checkpoint, maxLength } = encoder;
  const inputs = [base.folder, base.encoderFolder, base.tokenizerFolder];
  await makeFolder(output, { inputs, force: true }, async (folder) => {
    await copyFiles(base.encoderFolder, folder, ['config.json']);
    await copyFiles(base.tokenizerFolder, folder, TOKENIZER_FILES);
    await writeSafetensors(join(folder, WEIGHTS_FILE), tensorsOf(encoder), { format: 'pt' });
    await writeFileAtomically(join(folder, 'README.md'), cardOf(encoder));
    await writeModules(folder, { hiddenSize: checkpoint.config.hiddenSize, maxLength });
  });
}

function* tensorsOf({ checkpoint, tensors, dtype }: TrainedEncoder) {
  for (const { name, values } of tensors) {
    const { shape } = checkpoint.entry(name);
    yield { name: nameForOthers(name, checkpoint.config), dtype, shape, values };
  }
}

/** Class names that every version of sentence-transformers knows. */
const CLASSES = 'sentence_transformers.models';
const POOLING_FOLDER = '1_Pooling';

async function writeModules(
  folder: string,
  { hiddenSize, maxLength }: { readonly hiddenSize: number; readonly maxLength: number },
): Promise<void> {
  const modules = [
    { path: '', type: `${CLASSES}.Transformer` },
    { path: POOLING_FOLDER, type: `${CLASSES}.Pooling` },
    { path: '2_Normalize', type: `${CLASSES}.Normalize` },
  ];
  await mkdir(join(folder, POOLING_FOLDER));
  await writeJson(join(folder, POOLING_FOLDER, 'config.json'), {
    word_embedding_dimension: hiddenSize,
    pooling_mode_cls_token: false,
    pooling_mode_mean_tokens: true,
  });
  await writeJson(join(folder, 'sentence_bert_config.json'), { max_seq_length: maxLength, do_lower_case: false });
  await writeJson(join(folder, 'config_sentence_transformers.json'), {
    model_type: 'SentenceTransformer',
    prompts: { query: '', document: '' },
    default_prompt_name: null,
    similarity_fn_name: 'cosine',
  });
  await writeJson(
    join(folder, MODULES_FILE),
    modules.map(({ path, type }, idx) => ({ idx, name: String(idx), path, type })),
  );
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFileAtomically(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

function cardOf({ name, base, maxLength, training }: TrainedEncoder): string {
  return `# ${name}

A dense encoder: the vector of a text is the mean of its hidden states, brought to length 1.

| | |
|---|---|
| source | trained from ${base.settings.source} |
| text length | ${maxLength} tokens |

    lzero eval COLLECTION --system dense:.
    lzero model import . -o MODEL --head pooled --calibrate TEXTS

${training}
The licence is that of the source.
`;
}
