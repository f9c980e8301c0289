/**
 * Check of the decoder, the matrix that turns a hidden state into a logit for each term. Most checkpoints share it with
 * the word embeddings (tied) and do not store it. Where a file holds another one although config.json says tied, readers
 * disagree: transformers 5 and lzero take the file's, older versions the embeddings.
 */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { Checkpoint, WEIGHTS_FILE } from '../checkpoint.ts';
import { DECODER, DECODER_BIAS, MLM_BIAS, namesInFile, WORD_EMBEDDINGS } from '../tensor-names.ts';
import { openTensorFile } from '../tensors/open-tensor-file.ts';
import { type TensorToWrite, writeSafetensors } from '../tensors/safetensors-writer.ts';
import { objectsNamed } from './description-files.ts';
import { largest } from './effect.ts';
import { broken, type CheckResult, differs, type Effect, notApplicable, ok } from './report.ts';
import { encoderFolderOf, hasProblem, type Subject } from './subject.ts';

/** Whether the decoder is there, and the one that every reader would take. */
export async function checkDecoder(subject: Subject): Promise<CheckResult> {
  const id = 'decoder';
  const folder = encoderFolderOf(subject);
  if (folder === undefined) return notApplicable(id, 'the model has no decoder of its own');
  const names = await namesOf(folder);
  if (names === undefined) return notApplicable(id, 'the weights cannot be read');
  const checkpoint = await Checkpoint.open(folder).catch(hasProblem);
  if (checkpoint === undefined) {
    if (names.has(DECODER) || !names.has(MLM_BIAS) || !isUntied(subject, folder))
      return notApplicable(id, 'the weights cannot be used');
    return broken(
      id,
      [`${DECODER} is missing, and config.json says that the embeddings do not stand for it`],
      UNTIED_LOST,
    );
  }
  try {
    return await checkOpen(subject, checkpoint, names);
  } finally {
    await checkpoint.close();
  }
}

const UNTIED_LOST =
  'save the checkpoint again with its decoder, or set tie_word_embeddings to true if it has none of its own';

/** Whether config.json says that the decoder is not the word embeddings. */
function isUntied({ folder, files }: Subject, encoderFolder: string): boolean {
  return objectsNamed(files, 'config.json').some(
    ({ path, json }) =>
      json.tie_word_embeddings === false && relative(encoderFolder, dirname(join(folder, path))) === '',
  );
}

async function namesOf(folder: string): Promise<ReadonlyMap<string, string> | undefined> {
  const file = await openTensorFile(folder).catch(hasProblem);
  if (file === undefined) return undefined;
  try {
    return namesInFile(file.tensors.keys(), file.path);
  } catch (error) {
    return hasProblem(error);
  } finally {
    await file.close();
  }
}

async function checkOpen(
  subject: Subject,
  checkpoint: Checkpoint,
  names: ReadonlyMap<string, string>,
): Promise<CheckResult> {
  const id = 'decoder';
  if (checkpoint.head === 'none')
    return broken(id, ['the checkpoint has no MLM head: it gives no weights for terms'], headFix(subject));
  if (checkpoint.head === 'tied') return ok(id, 'a tied head made by lzero');
  const isTied = checkpoint.config.decoder !== 'untied';
  const found: string[] = [];
  const effects: (Effect | undefined)[] = [];
  if (isTied && names.has(DECODER) && !(await areEqual(checkpoint, DECODER, WORD_EMBEDDINGS))) {
    found.push(`config.json says that the decoder is the word embeddings, the file has another one (${DECODER})`);
    effects.push(await effectWithout(subject, checkpoint, DECODER));
  }
  if (names.has(DECODER_BIAS) && names.has(MLM_BIAS) && !(await areEqual(checkpoint, DECODER_BIAS, MLM_BIAS))) {
    found.push(
      `${DECODER_BIAS} and ${MLM_BIAS} are not the same; the first counts here, the second in older versions of transformers`,
    );
    effects.push(await effectWithout(subject, checkpoint, DECODER_BIAS));
  }
  if (found.length > 0) return differs(id, { found, effect: largest(effects), fix: SAY_UNTIED });
  return ok(id, isTied ? 'the word embeddings, as config.json says' : 'one of its own, as config.json says');
}

const SAY_UNTIED =
  'set tie_word_embeddings to false in config.json if the model was trained with a decoder of its own; else delete the tensor';

function headFix({ folder }: Subject): string {
  return `make one from its word embeddings: lzero model import ${folder} -o MODEL --head tied --calibrate INPUT`;
}

async function areEqual(checkpoint: Checkpoint, a: string, b: string): Promise<boolean> {
  const [x, y] = [await checkpoint.read(a), await checkpoint.read(b)];
  return x.length === y.length && x.every((value, i) => value === y[i]);
}

/** What scores would do without one tensor, so that the one in its place counts: on a copy in a temporary folder. */
async function effectWithout(subject: Subject, checkpoint: Checkpoint, dropped: string): Promise<Effect | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'lzero-check-'));
  try {
    const names = new Set([...checkpoint.usedNames, MLM_BIAS].filter((name) => name !== dropped));
    await writeSafetensors(join(folder, WEIGHTS_FILE), await tensorsOf(checkpoint, names));
    await copyFile(join(checkpoint.folder, 'config.json'), join(folder, 'config.json'));
    return await subject.measure({ encoderFolder: folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tensorsOf(checkpoint: Checkpoint, names: Iterable<string>): Promise<TensorToWrite[]> {
  const tensors: TensorToWrite[] = [];
  for (const name of names)
    tensors.push({ name, dtype: 'F32', shape: checkpoint.entry(name).shape, values: await checkpoint.read(name) });
  return tensors;
}
