/**
 * Check of the decoder, the matrix that turns a hidden state into a logit for each term. Most checkpoints share it with
 * the word embeddings (tied) and do not store it. Where a file holds another one although config.json says tied, readers
 * disagree: transformers 5 and lzero take the file's, older versions the embeddings. Its bias stands under two names.
 */
import { dirname, join, relative } from 'node:path';
import { isDistilBert } from '../bert-config.ts';
import { Checkpoint, HEAD_OPTIONS, isOwnHead } from '../checkpoint.ts';
import { DECODER, DECODER_BIAS, MLM_BIAS, namesInFile, WORD_EMBEDDINGS } from '../tensor-names.ts';
import { openTensorFile } from '../tensors/open-tensor-file.ts';
import { objectsNamed } from './description-files.ts';
import { largest } from './effect.ts';
import { effectOfTensors } from './mixed-network.ts';
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
  if (isOwnHead(checkpoint.head)) return ok(id, `a ${checkpoint.head} head made by lzero`);
  const found = await disputed(checkpoint, names);
  if (found.length === 0)
    return ok(
      id,
      isTied(checkpoint) ? 'the word embeddings, as config.json says' : 'one of its own, as config.json says',
    );
  const effects: (Effect | undefined)[] = [];
  for (const { tensor } of found)
    effects.push(await effectOfTensors(subject, checkpoint, (name, values) => (name === tensor ? undefined : values)));
  return differs(id, {
    found: found.map(({ words }) => words),
    effect: largest(effects),
    fix: [...new Set(found.map(({ fix }) => fix))].join('; '),
  });
}

function isTied({ config }: Checkpoint): boolean {
  return config.decoder !== 'untied';
}

/** A tensor that some readers do without, so that the one in its place counts. */
type Disputed = { readonly tensor: string; readonly words: string; readonly fix: string };

async function disputed(checkpoint: Checkpoint, names: ReadonlyMap<string, string>): Promise<Disputed[]> {
  const found: Disputed[] = [];
  if (isTied(checkpoint) && names.has(DECODER) && !(await areEqual(checkpoint, DECODER, WORD_EMBEDDINGS)))
    found.push({
      tensor: DECODER,
      words: `config.json says that the decoder is the word embeddings, the file has another one (${DECODER})`,
      fix: SAY_UNTIED,
    });
  if (!names.has(MLM_BIAS)) return found;
  if (names.has(DECODER_BIAS)) {
    if (!(await areEqual(checkpoint, DECODER_BIAS, MLM_BIAS)))
      found.push({
        tensor: DECODER_BIAS,
        words: `${DECODER_BIAS} and ${MLM_BIAS} are not the same; the first counts here, the second in older versions of transformers`,
        fix: SAY_UNTIED,
      });
  } else if (await losesBias(checkpoint))
    found.push({
      tensor: MLM_BIAS,
      words: `config.json says that the decoder is not the word embeddings, and its bias is only ${MLM_BIAS}: transformers 5 wants ${DECODER_BIAS} then, and takes 0`,
      fix: `store the bias as ${DECODER_BIAS}, too: lzero model convert --to sentence-transformers does`,
    });
  return found;
}

/** Whether transformers 5 takes 0 in place of a bias that it knows only as tied to that of the decoder. DistilBERT has one name. */
async function losesBias(checkpoint: Checkpoint): Promise<boolean> {
  if (isTied(checkpoint) || isDistilBert(checkpoint.config)) return false;
  return (await checkpoint.read(MLM_BIAS)).some((value) => value !== 0);
}

const SAY_UNTIED =
  'set tie_word_embeddings to false in config.json if the model was trained with a decoder of its own; else delete the tensor';

function headFix({ folder }: Subject): string {
  return `make one from its word embeddings: lzero model import ${folder} -o MODEL ${HEAD_OPTIONS}`;
}

async function areEqual(checkpoint: Checkpoint, a: string, b: string): Promise<boolean> {
  const [x, y] = [await checkpoint.read(a), await checkpoint.read(b)];
  return x.length === y.length && x.every((value, i) => value === y[i]);
}
