/**
 * Folders that name no layout: a checkpoint as transformers saves it, or an ONNX file with a tokenizer. Their files say
 * nothing of pooling, activation and queries, so options do, and SPLADE's rules stand where options are silent.
 */

import { checkpointSettings } from './checkpoint-settings.ts';
import type { LayoutName, SourceModel } from './source-model.ts';

/** A checkpoint without further description. */
export async function readTransformers(folder: string): Promise<SourceModel> {
  const { settings, ...rest } = await checkpointSettings(folder, folder);
  const layout: LayoutName = settings.kind === 'onnx' ? 'onnx' : 'transformers';
  return {
    layout,
    folder,
    encoderFolder: folder,
    tokenizerFolder: folder,
    settings,
    ...rest,
    queryWeights: { kind: 'default' },
    notes: [
      layout === 'onnx'
        ? 'an ONNX file, run as it is: options say activation, length and query weights, else log(1 + relu z), 512 and the embedded table'
        : 'a checkpoint whose files say neither activation nor query weights: options do, else log(1 + relu z) and the embedded table',
    ],
  };
}
