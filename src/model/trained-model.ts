/**
 * A model folder whose weights, query weights or activation have become others than its base's: what training gives.
 * Tokenizer and sizes are the base's. How the weights were found is not known here.
 */
import { join } from 'node:path';
import { writeFileAtomically } from '../files/index.ts';
import { formatIdf } from '../text/index.ts';
import { modelCard } from './card.ts';
import type { Checkpoint } from './checkpoint.ts';
import { missingHead, WEIGHTS_FILE } from './checkpoint.ts';
import { copyFiles, makeFolder } from './folder-output.ts';
import type { ModelFolder } from './model-folder.ts';
import { TOKENIZER_FILES } from './model-folder.ts';
import type { PruneRule } from './prune.ts';
import type { BertSettings } from './settings.ts';
import { formatSettings, IDF_FILE, lexicalOf, SETTINGS_FILE } from './settings.ts';
import { nameForOthers } from './tensor-names.ts';
import type { WritableDtype } from './tensors/safetensors-writer.ts';
import { writeSafetensors } from './tensors/safetensors-writer.ts';

/** What a trained model has of its own. */
export type TrainedModel = Pick<BertSettings, 'activation' | 'encodeLength'> & {
  /** What it is called. */
  readonly name: string;
  /** What it was trained from. */
  readonly base: ModelFolder;
  /** The base's network. */
  readonly checkpoint: Checkpoint;
  /** A tensor's values, by the names of the checkpoint. */
  weights(name: string): Float32Array;
  readonly dtype: WritableDtype;
  /** Which weights of a document are dropped; as the base does if not given. */
  readonly prune?: PruneRule | undefined;
  /** Weights of query terms, one a term of the vocabulary; none where every token weighs 1. */
  readonly idf: Float32Array | 'none';
  /** How it was trained, for the card. */
  readonly training: string;
};

/** Writes the folder, whole or not at all, in place of a model that is there. */
export async function writeTrainedModel(output: string, model: TrainedModel): Promise<void> {
  const { base, checkpoint, idf, training } = model;
  if (checkpoint.head === 'none') throw missingHead(base.folder, `lzero model import ${base.folder} -o MODEL`);
  const { head } = checkpoint;
  const { tokenizer } = base;
  const inputs = [base.folder, base.encoderFolder, base.tokenizerFolder];
  await makeFolder(output, { inputs, force: true }, async (folder) => {
    const settings = settingsOf(model);
    await copyFiles(base.encoderFolder, folder, ['config.json']);
    await copyFiles(base.tokenizerFolder, folder, TOKENIZER_FILES);
    await writeSafetensors(join(folder, WEIGHTS_FILE), tensorsOf(model), { format: 'pt' });
    if (idf !== 'none')
      await writeFileAtomically(join(folder, IDF_FILE), formatIdf({ values: idf }, tokenizer.vocabulary));
    await writeFileAtomically(join(folder, 'README.md'), modelCard(settings, { head, tokenizer, training }));
    await writeFileAtomically(join(folder, SETTINGS_FILE), formatSettings(settings));
  });
}

function settingsOf({ name, base, activation, encodeLength, prune, idf }: TrainedModel): BertSettings {
  const { settings } = base;
  const lexical = lexicalOf(settings);
  return {
    kind: 'bert',
    format: 1,
    name,
    specialTokens: 'drop',
    prune: prune ?? settings.prune,
    idf: idf === 'none' ? 'none' : IDF_FILE,
    source: `trained from ${settings.source}`,
    activation,
    encodeLength,
    ...(lexical && { lexical }),
  };
}

function* tensorsOf({ checkpoint, weights, dtype }: TrainedModel) {
  for (const name of checkpoint.usedNames) {
    const { shape } = checkpoint.entry(name);
    yield { name: nameForOthers(name, checkpoint.config), dtype, shape, values: weights(name) };
  }
}
