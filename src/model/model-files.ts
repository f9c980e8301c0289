/** Which files of a folder are a model's, whatever its layout: none of them may be anybody's output. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDescription } from './check/description-files.ts';

/** Beside the descriptions: weights and graphs, what else tokenizers have, and the card. */
const OTHERS =
  /\.(?:safetensors|bin|onnx|onnx_data)$|^(?:added_tokens|generation_config)\.json$|^merges\.txt$|^README\.md$/;

/** The paths of a model's own files, in its folder and those inside it; none where there is no folder. */
export async function modelFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => isDescription(name) || OTHERS.test(name))
    .map(({ parentPath, name }) => join(parentPath, name));
}
