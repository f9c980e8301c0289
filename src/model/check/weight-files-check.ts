/**
 * Check of folders that hold the weights twice, as model.safetensors and as pytorch_model.bin: lzero and newer programs
 * read the first, older ones the second.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../../files/index.ts';
import { Checkpoint, WEIGHTS_FILE } from '../checkpoint.ts';
import { withMixedNetwork } from './mixed-network.ts';
import { networkDifferences } from './network-differences.ts';
import { type CheckResult, differs, notApplicable, ok } from './report.ts';
import { encoderFolderOf, type Subject } from './subject.ts';

const TORCH_FILE = 'pytorch_model.bin';

/** Whether both files of weights hold the same. */
export async function checkWeightFiles(subject: Subject): Promise<CheckResult> {
  const id = 'weight-files';
  const folder = encoderFolderOf(subject);
  if (folder === undefined) return notApplicable(id, 'the model has no file of weights');
  const both = await Promise.all([WEIGHTS_FILE, TORCH_FILE].map((name) => exists(join(folder, name))));
  if (!both.every(Boolean)) return notApplicable(id, 'there is one file of weights only');
  const config = await readFile(join(folder, 'config.json'), 'utf8');
  return await withMixedNetwork({ config, weights: join(folder, TORCH_FILE) }, async (other) => {
    const found = await differencesBetween(folder, other);
    if (found.length === 0) return ok(id, `${WEIGHTS_FILE} and ${TORCH_FILE} hold the same`);
    const effect = await subject.measure({ encoderFolder: other });
    return differs(id, { found, effect, fix: `lzero reads ${WEIGHTS_FILE}: delete the file that is not meant` });
  });
}

async function differencesBetween(folder: string, other: string): Promise<string[]> {
  const a = await Checkpoint.open(folder);
  try {
    const b = await Checkpoint.open(other);
    try {
      return await networkDifferences({ name: WEIGHTS_FILE, checkpoint: a }, { name: TORCH_FILE, checkpoint: b });
    } finally {
      await b.close();
    }
  } finally {
    await a.close();
  }
}
