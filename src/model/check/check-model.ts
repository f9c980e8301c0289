/**
 * The conformance kit: everything about a model folder that can make its scores differ from one reader to the next, found,
 * measured on texts, and with a way to mend it. A broken file is a finding like any other; the rest is checked all the same.
 */
import { DEFAULT_MODEL } from '../embedded-model.ts';
import { type ResolvedModel, resolveModel } from '../hub/resolve-model.ts';
import { readSourceModel, refuseContradictions, requireFolder } from '../layouts/find-layout.ts';
import type { CheckpointOptions } from '../layouts/source-model.ts';
import { readModelFolder } from '../model-folder.ts';
import { checkAgainst } from './against-checks.ts';
import { checkDecoder } from './decoder-check.ts';
import type { DescriptionFile } from './description-files.ts';
import { checkMaxLength } from './length-check.ts';
import { checkQueryWeights } from './query-weight-checks.ts';
import { broken, type CheckId, type CheckReport, type CheckResult, changesScores, ok } from './report.ts';
import { checkActivation, checkPruningBorder } from './setting-checks.ts';
import { checkSpecialTokens, checkUnknownToken } from './special-token-checks.ts';
import { hasProblem, orBroken, readSubject, type Subject, type SubjectOptions } from './subject.ts';
import { checkTensorNames } from './tensor-names-check.ts';
import { checkTestVectors, makeTestVectors, type TestVectors } from './test-vectors.ts';
import { checkTokenizerFiles, checkTokenizerReference } from './tokenizer-checks.ts';
import { type CheckTexts, withTricky } from './tricky-texts.ts';
import { checkSizes, checkWeights } from './weight-checks.ts';
import { checkWeightFiles } from './weight-files-check.ts';

/** How to check a model. Options for its checkpoint that contradict its files are refused, as wherever one is read. */
export type CheckOptions = SubjectOptions & {
  /** Folder of another model, to compare with. It takes those of the options that its own files leave open. */
  readonly against?: string | undefined;
  /** Texts to measure effects on, such as a sample of a collection, besides the kit's own. */
  readonly texts?: CheckTexts | undefined;
  /** Test vectors that the model must reproduce. */
  readonly vectors?: TestVectors | undefined;
  /** Told how many checks are done. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

const NO_TEXTS: CheckTexts = { queries: [], documents: [] };

type Check = (subject: Subject) => CheckResult | Promise<CheckResult>;

/** In the order of the report. */
const CHECKS: readonly (readonly [id: CheckId, check: Check])[] = [
  ['files', checkFiles],
  ['model', checkLoads],
  ['tokenizer-files', checkTokenizerFiles],
  ['tokenizer-reference', checkTokenizerReference],
  ['special-tokens', checkSpecialTokens],
  ['unknown-token', checkUnknownToken],
  ['query-weights', checkQueryWeights],
  ['activation', checkActivation],
  ['pruning-border', checkPruningBorder],
  ['max-length', checkMaxLength],
  ['weights', checkWeights],
  ['weight-files', checkWeightFiles],
  ['tensor-names', checkTensorNames],
  ['sizes', checkSizes],
  ['decoder', checkDecoder],
];

/** How many checks a model goes through by itself, for progress. */
export const NUM_CHECKS = CHECKS.length;

/** Checks a model folder of any layout, or a model that was pulled, by its name; without one the embedded model. */
export async function checkModel(
  folderOrName: string = DEFAULT_MODEL,
  options: CheckOptions = {},
): Promise<CheckReport> {
  const { vectors, onProgress = () => {} } = options;
  const { folder } = await findModel(folderOrName);
  const against = options.against === undefined ? undefined : (await findModel(options.against)).folder;
  await refuseOptions(folder, options.checkpoint);
  const texts = withTricky(options.texts ?? NO_TEXTS);
  const subject = await readSubject(folder, texts, options);
  const checks: CheckResult[] = [];
  for (const [id, check] of CHECKS) {
    checks.push(await orBroken(id, () => check(subject)));
    onProgress(checks.length);
  }
  if (vectors !== undefined) checks.push(await checkTestVectors(subject, vectors, options));
  if (against !== undefined) checks.push(...(await checkAgainst(subject, await readSubject(against, texts, options))));
  const counts = { numQueries: texts.queries.length, numDocuments: texts.documents.length };
  return { folder, against, ...counts, checks, changesScores: checks.some(changesScores) };
}

/** Makes test vectors of a model: of the kit's own texts and those given. */
export async function testVectorsOf(
  folderOrName: string = DEFAULT_MODEL,
  { texts = NO_TEXTS, checkpoint, signal }: Pick<CheckOptions, 'texts' | 'checkpoint' | 'signal'> = {},
): Promise<TestVectors> {
  const { folder, name } = await findModel(folderOrName);
  const model = await readModelFolder(folder, checkpoint, name);
  return await makeTestVectors(model, withTricky(texts), { signal });
}

async function findModel(folderOrName: string): Promise<ResolvedModel> {
  const found = await resolveModel(folderOrName);
  await requireFolder(found.folder);
  return found;
}

/** What cannot be read at all is a finding, whatever the options say of it. */
async function refuseOptions(folder: string, checkpoint: CheckpointOptions = {}): Promise<void> {
  const source = await readSourceModel(folder).catch(hasProblem);
  if (source) refuseContradictions(source, checkpoint);
}

/** Whether the files can be read, and those that should be JSON are. */
function checkFiles({ files, unreadable }: Subject): CheckResult {
  const problems = [...unreadable, ...files.filter(({ name }) => name.endsWith('.json')).flatMap(jsonProblem)];
  if (problems.length > 0) return broken('files', problems, 'fetch or export these files again');
  return ok('files', `${files.map(({ path }) => path).join(', ') || 'none'}`);
}

function jsonProblem({ path, text }: DescriptionFile): string[] {
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    return [`${path}: not JSON: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** Whether the model can be read and run at all. */
function checkLoads({ model, problems, encoded }: Subject): CheckResult {
  if (problems.length > 0)
    return broken(
      'model',
      problems.map(({ message }) => message),
      problems[0].hint,
    );
  const numEmpty = encoded?.documents.filter(({ terms }) => terms.length === 0).length ?? 0;
  if (encoded && numEmpty === encoded.documents.length)
    return broken(
      'model',
      ['every document comes out empty'],
      'the weights, the bias or the pruning rule leave no term',
    );
  const notes = model?.notes ?? [];
  return ok(
    'model',
    `layout ${model?.layout}`,
    ...notes,
    ...(numEmpty > 0 ? [`${numEmpty} documents come out empty`] : []),
  );
}
