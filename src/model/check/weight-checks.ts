/** Checks of the network's file: readable to its end, numbers that are numbers, sizes that belong together. */
import { dirname, join, relative } from 'node:path';
import { CheckpointError, InterruptedError, type LzeroError } from '../../core/index.ts';
import { Checkpoint } from '../checkpoint.ts';
import { DECODER, MLM_BIAS, namesInFile, WORD_EMBEDDINGS } from '../tensor-names.ts';
import { openTensorFile } from '../tensors/open-tensor-file.ts';
import type { TensorFile } from '../tensors/tensor-file.ts';
import { tensorLabel } from '../tensors/weights-file.ts';
import { objectsNamed } from './description-files.ts';
import { broken, type CheckResult, notApplicable, ok } from './report.ts';
import { encoderFolderOf, hasProblem, problemOf, type Subject } from './subject.ts';

/** Problems that are shown one by one. */
const SHOWN_PROBLEMS = 5;

const FLOATS: ReadonlySet<string> = new Set(['F32', 'F16', 'BF16', 'F64']);

/** Whether the file of weights is whole, and every number in it finite. */
export async function checkWeights(subject: Subject): Promise<CheckResult> {
  const id = 'weights';
  const folder = encoderFolderOf(subject);
  if (folder === undefined) return notApplicable(id, 'the model has no file of weights');
  const problems: LzeroError[] = [];
  let numTensors = 0;
  try {
    const file = await openTensorFile(folder);
    numTensors = file.tensors.size;
    problems.push(...(await tensorProblems(file, subject).finally(() => file.close())));
    await (await Checkpoint.open(folder)).close();
  } catch (error) {
    problems.push(problemOf(error));
  }
  if (problems.length === 0) return ok(id, `${numTensors} tensors, all numbers finite`);
  const found = problems.slice(0, SHOWN_PROBLEMS).map(({ message }) => message);
  const rest = problems.length - found.length;
  if (rest > 0) found.push(`and ${rest} more of the kind`);
  return broken(id, found, problems[0].hint ?? FETCH_AGAIN);
}

/** Values that are no numbers, and matrices of nothing but zeros: what a download that broke off leaves behind. */
async function tensorProblems(file: TensorFile, { signal }: Pick<Subject, 'signal'>): Promise<LzeroError[]> {
  const problems: LzeroError[] = [];
  for (const [name, { dtype, shape }] of file.tensors) {
    if (signal?.aborted) throw new InterruptedError(); // a file may hold very many
    if (!FLOATS.has(dtype)) continue;
    try {
      const values = await file.readFloat32(name);
      if (shape.length === 2 && !MAY_BE_ZERO.test(name) && values.every((value) => value === 0))
        problems.push(
          new CheckpointError(`${file.path}: ${tensorLabel(name)} holds only zeros`, { hint: FETCH_AGAIN }),
        );
    } catch (error) {
      problems.push(problemOf(error));
    }
  }
  return problems;
}

const MAY_BE_ZERO = /token_type_embeddings/;
const FETCH_AGAIN = 'fetch or export the weights again';

/** A size that a file states, in words and as a number. */
type Size = { readonly what: string; readonly size: number };

/** Whether tokenizer, config.json, tensors and settings agree on the vocabulary and on the positions. */
export async function checkSizes(subject: Subject): Promise<CheckResult> {
  const id = 'sizes';
  const folder = encoderFolderOf(subject);
  if (folder === undefined) return notApplicable(id, 'the model has no network of its own');
  const config = objectsNamed(subject.files, 'config.json').find(
    ({ path }) => relative(folder, dirname(join(subject.folder, path))) === '',
  );
  const inFile = await tensorSizes(folder);
  const stated = (key: string): Size[] => {
    const size = config?.json[key];
    return typeof size === 'number' ? [{ what: `config.json: ${key}`, size }] : [];
  };
  const terms = [...stated('vocab_size'), ...inFile.terms];
  const positions = [...stated('max_position_embeddings'), ...inFile.positions];
  const found = [...disagreements(terms), ...disagreements(positions)];
  const numTokens = subject.tokenizer?.vocabulary.size ?? 0;
  const fewest = terms.reduce((least, { size }) => Math.min(least, size), Number.POSITIVE_INFINITY);
  if (numTokens > fewest) found.push(`the tokenizer has ${numTokens} tokens, the network rows for ${fewest}`);
  found.push(...tooLong(subject, positions));
  if (found.length > 0) return broken(id, found, 'tokenizer, config.json and weights belong to different models');
  const spare = fewest - numTokens;
  return ok(
    id,
    `${numTokens} tokens${spare > 0 ? ` and ${spare} spare rows` : ''}, ${positions[0]?.size ?? 0} positions`,
  );
}

function disagreements([first, ...others]: readonly Size[]): string[] {
  return others
    .filter(({ size }) => size !== first.size)
    .map(({ what, size }) => `${what} is ${size}, ${first.what} is ${first.size}`);
}

function tooLong({ files }: Subject, positions: readonly Size[]): string[] {
  const most = positions.reduce((least, { size }) => Math.min(least, size), Number.POSITIVE_INFINITY);
  return objectsNamed(files, 'lzero.json').flatMap(({ path, json: { encodeLength } }) =>
    typeof encodeLength === 'number' && encodeLength > most
      ? [`${path}: encodeLength is ${encodeLength}, the network has ${most} positions`]
      : [],
  );
}

async function tensorSizes(folder: string): Promise<{ terms: Size[]; positions: Size[] }> {
  const file = await openTensorFile(folder).catch(hasProblem);
  if (file === undefined) return { terms: [], positions: [] }; // the check of weights says why
  try {
    const names = namesInFile(file.tensors.keys(), file.path);
    const rows = (name: string): Size[] => {
      const shape = file.tensors.get(names.get(name) ?? '')?.shape;
      return shape === undefined ? [] : [{ what: `rows of ${name}`, size: shape[0] }];
    };
    return {
      terms: [WORD_EMBEDDINGS, DECODER, MLM_BIAS].flatMap(rows),
      positions: rows('bert.embeddings.position_embeddings.weight'),
    };
  } catch (error) {
    problemOf(error);
    return { terms: [], positions: [] };
  } finally {
    await file.close();
  }
}
