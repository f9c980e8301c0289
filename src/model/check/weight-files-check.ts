/**
 * Check of folders that hold the weights twice, as model.safetensors and as pytorch_model.bin: lzero and newer programs
 * read the first, older ones the second.
 */
import { copyFile, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exists } from '../../files/index.ts';
import { Checkpoint, WEIGHTS_FILE } from '../checkpoint.ts';
import { networkDifferences } from './against-checks.ts';
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
  const other = await mkdtemp(join(tmpdir(), 'lzero-check-'));
  try {
    await copyFile(join(folder, 'config.json'), join(other, 'config.json'));
    const torch = await realpath(join(folder, TORCH_FILE));
    await symlink(torch, join(other, TORCH_FILE)).catch(() => copyFile(torch, join(other, TORCH_FILE))); // Windows
    const found = await differencesBetween(folder, other);
    if (found.length === 0) return ok(id, `${WEIGHTS_FILE} and ${TORCH_FILE} hold the same`);
    const effect = await subject.measure({ encoderFolder: other });
    return differs(id, { found, effect, fix: `lzero reads ${WEIGHTS_FILE}: delete the file that is not meant` });
  } finally {
    await rm(other, { recursive: true, force: true });
  }
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
