/** Whether a folder that nobody called dense or sparse holds a dense encoder. */
import { join } from 'node:path';
import { exists } from '../../files/index.ts';
import { Checkpoint } from '../checkpoint.ts';
import { requireFolder } from '../layouts/find-layout.ts';
import { readJsonIfThere } from '../layouts/module-files.ts';
import { GRAPHS, weightsIn } from '../layouts/network-in.ts';
import { MODULES_FILE, moduleListSchema } from '../layouts/st-modules.ts';
import { readOnnxInterface } from '../onnx/onnx-interface.ts';
import { SETTINGS_FILE } from '../settings.ts';
import { DENSE_OUTPUTS } from './dense-outputs.ts';

/** One vector a text comes from a Pooling of sentence-transformers, from weights without a head for terms, or by name. */
export async function looksDense(folder: string): Promise<boolean> {
  await requireFolder(folder);
  if (await exists(join(folder, SETTINGS_FILE))) return false;
  const modules = await readJsonIfThere(join(folder, MODULES_FILE), moduleListSchema);
  if (modules !== undefined) return modules.some(({ type }) => type.split('.').at(-1) === 'Pooling');
  if ((await weightsIn(folder)) === undefined) return await graphLooksDense(folder);
  const checkpoint = await Checkpoint.open(folder);
  try {
    return checkpoint.head === 'none';
  } finally {
    await checkpoint.close();
  }
}

async function graphLooksDense(folder: string): Promise<boolean> {
  for (const file of GRAPHS) {
    if (!(await exists(join(folder, file)))) continue;
    const { outputs } = await readOnnxInterface(join(folder, file));
    return outputs.some(({ name }) => DENSE_OUTPUTS.includes(name));
  }
  return false;
}
