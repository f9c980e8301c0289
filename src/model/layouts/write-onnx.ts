/**
 * A model as an ONNX file with its tokenizer: `model.onnx` gives term weights, so a program that runs it needs nothing
 * of ours. lzero.json beside it makes the folder one of our own models again.
 */
import { join } from 'node:path';
import { writeFileAtomically } from '../../files/index.ts';
import { formatIdf } from '../../text/index.ts';
import { OUTPUT_NAMES } from '../onnx/export-graph.ts';
import { writeOnnx } from '../onnx/export-onnx.ts';
import type { OnnxSettings } from '../settings.ts';
import { formatSettings, IDF_FILE, SETTINGS_FILE } from '../settings.ts';
import { foreignCard } from './write-card.ts';
import type { ForeignModel } from './write-sentence-transformers.ts';
import { writeTokenizer } from './write-tokenizer.ts';

/** The graph's file. */
const MODEL_FILE = 'model.onnx';

/** Writes the folder. */
export async function writeOnnxFolder(
  folder: string,
  model: ForeignModel,
  { inputPrefix }: { readonly inputPrefix?: string | undefined } = {},
): Promise<void> {
  const { checkpoint, settings, tokenizer, idf, precision } = model;
  const { vocabulary } = tokenizer;
  await writeOnnx(join(folder, MODEL_FILE), checkpoint, {
    form: 'weights',
    activation: settings.activation,
    prune: settings.prune,
    precision,
    inputPrefix,
    numTerms: vocabulary.size,
    silenced: vocabulary.specialIds,
  });
  await writeTokenizer(folder, model, { maxLength: settings.encodeLength });
  if (settings.idf === IDF_FILE) await writeFileAtomically(join(folder, IDF_FILE), formatIdf(idf, vocabulary));
  const written: OnnxSettings = {
    ...settings,
    kind: 'onnx',
    file: MODEL_FILE,
    output: { name: OUTPUT_NAMES.weights, form: 'weights' },
    ...(precision === 'int8' ? { precision } : {}),
  };
  await writeFileAtomically(join(folder, 'README.md'), foreignCard(model, { layout: 'onnx', backend: 'onnx' }));
  await writeFileAtomically(join(folder, SETTINGS_FILE), formatSettings(written));
}
