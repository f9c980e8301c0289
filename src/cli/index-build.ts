/**
 * What a build notes in the index it makes: of what, and whether it came to its end. By this the next call knows whether
 * to go on, to begin anew, or to keep its hands off.
 */
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { IndexFormatError, IndexStateError } from '../core/index.ts';
import { fileIdentity, inputFile, isPageFolder } from '../data/index.ts';
import type { Index } from '../engines/index.ts';
import { exists } from '../files/index.ts';
import type { Model } from '../model/index.ts';
import type { FieldSchema } from '../search/index.ts';
import type { UserState } from '../store/index.ts';
import { withIndex } from './index-options.ts';
import type { SourceOptions } from './index-source.ts';
import { packageVersion } from './program.ts';

/** Everything that decides what a build writes. */
export type BuildOptions = SourceOptions & {
  readonly output: string;
  readonly bm25?: boolean;
  readonly k1?: number;
  readonly b?: number;
  readonly stopWords?: boolean;
  readonly fields?: FieldSchema;
  readonly storeVectors?: boolean;
  readonly maxWeight?: number;
  readonly force?: boolean;
};

/** What is built, and with what. */
export type Build<Options extends BuildOptions = BuildOptions> = {
  readonly input: string | undefined;
  readonly options: Options;
  readonly model: Model | undefined;
};

/** Settings by name, as they are committed. */
export type BuildIdentity = Readonly<Record<string, UserState>>;

/** What must be the same for a build to go on. `--skip-bad` may change: what is done is the same with it and without. */
export async function buildIdentity({ input, options, model }: Build): Promise<BuildIdentity> {
  const { output, vectors, chunk, overlap, format, baseUrl, fields = {}, storeVectors = false } = options;
  const { bm25 = false, k1, b, stopWords = true, maxWeight } = options;
  return {
    version: packageVersion(),
    input: input === undefined ? null : await inputIdentity(input, output),
    vectors: vectors === undefined ? null : await inputIdentity(vectors, output),
    model: model ? await model.identity() : null,
    precision: model ? model.precision : null,
    chunk: chunk ?? null,
    overlap: overlap ?? null,
    format: format ?? null,
    'base-url': baseUrl ?? null,
    bm25: bm25 ? [k1 ?? null, b ?? null, ...(stopWords ? [] : ['no-stop-words'])] : null,
    'max-weight': maxWeight ?? null,
    'store-vectors': storeVectors,
    fields,
  };
}

/**
 * Pages are compared one by one, by their content; of other inputs the file must be as it was. It is named by the way to
 * it from the index: another folder of the same name, seen from another place, is another.
 */
async function inputIdentity(input: string, output: string): Promise<UserState> {
  if (input === '-') return input;
  const file = await inputFile(input);
  const { sizeBytes, modifiedMs } = await fileIdentity(file);
  const name = relative(output, file);
  return (await isPageFolder(input)) ? name : { name, sizeBytes, modifiedMs };
}

/** What is committed with the documents of a build. */
export function buildStates(identity: BuildIdentity): { readonly unfinished: UserState; readonly finished: UserState } {
  return { unfinished: { job: { ...identity }, finished: false }, finished: { job: { ...identity }, finished: true } };
}

/** What becomes of what is in the folder. */
export type Verdict = 'create' | 'go-on' | 'replace';

/** Looks at the folder of a build. IndexStateError where there is an index that is not to be touched. */
export async function judgeFolder({ input, options }: Build, identity: BuildIdentity): Promise<Verdict> {
  const { output, force = false } = options;
  if (!(await exists(join(output, 'manifest.json')))) return 'create';
  const found = await lookInto(output).catch((error: unknown) => {
    if (force && error instanceof IndexFormatError) return undefined; // damaged: to be replaced
    throw error;
  });
  if (!found) return 'replace';
  const changed = found.job ? changedSettings(found.job, identity) : undefined;
  const isPages = input !== undefined && (await isPageFolder(input));
  if (changed?.length === 0 && !found.finished) return 'go-on';
  if (force || found.isBlank || (found.numDocs === 0 && !found.finished)) return 'replace';
  if (changed?.length === 0 && isPages) return 'go-on';
  throw inTheWay(output, { isUnfinished: !found.finished, changed: changed ?? [] });
}

/** Whether a replacement that an earlier call has left is one of the same, and can be gone on with. */
export async function isSameBuild(folder: string, identity: BuildIdentity): Promise<boolean> {
  if (!(await exists(join(folder, 'manifest.json')))) return false;
  try {
    const { job } = await lookInto(folder);
    return job !== undefined && changedSettings(job, identity).length === 0;
  } catch (error) {
    if (error instanceof IndexFormatError) return false; // damaged
    throw error;
  }
}

type FoundBuild = {
  /** What was built; undefined where it was not `lzero index` that made the index. */
  readonly job: BuildIdentity | undefined;
  readonly finished: boolean;
  readonly numDocs: number;
  /** Made, and nothing ever written to it: who made it was killed. */
  readonly isBlank: boolean;
};

async function lookInto(folder: string): Promise<FoundBuild> {
  return await withIndex(folder, { mode: 'lean' }, async (index) => {
    const { numDocs, store } = await index.stats();
    const isLogged = (await readdir(folder)).some((name) => name.startsWith('log-'));
    return { ...noteOf(index), numDocs, isBlank: store.generation === 1 && !isLogged };
  });
}

function noteOf({ userState }: Index): Pick<FoundBuild, 'job' | 'finished'> {
  if (!isObject(userState) || !isObject(userState.job)) return { job: undefined, finished: true };
  return { job: userState.job, finished: userState.finished === true };
}

function isObject(value: UserState): value is { [name: string]: UserState } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function changedSettings(before: BuildIdentity, now: BuildIdentity): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(now[name]));
}

type InTheWay = { readonly isUnfinished: boolean; readonly changed: readonly string[] };

function inTheWay(folder: string, { isUnfinished, changed }: InTheWay): IndexStateError {
  const what = isUnfinished ? 'an unfinished index' : 'an index already';
  const how = changed.length > 0 ? `, made with another ${changed.join(', ')}` : '';
  return new IndexStateError(`${folder} is ${what}${how}`, {
    hint: 'replace it with --force, add to it with `lzero add`, or choose another folder',
  });
}
