/**
 * What a build is, and what becomes of an index that is in its way: by what an earlier build has noted there, the next
 * call goes on, begins anew, or keeps its hands off.
 */
import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { IndexFormatError, IndexStateError, OutputError } from '../core/index.ts';
import { fileIdentity, inputFile, isPageFolder } from '../data/index.ts';
import { exists } from '../files/index.ts';
import type { Model } from '../model/index.ts';
import type { FieldSchema } from '../search/index.ts';
import type { UserState } from '../store/index.ts';
import { type BuildIdentity, type BuildNote, noteOf } from './build-note.ts';
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

/** What must be the same for a build to go on. `--skip-bad` may change: what is done is the same with it and without. */
export async function buildIdentity({ input, options, model }: Build): Promise<BuildIdentity> {
  const { output, vectors, chunk, overlap, format, baseUrl, fields = {}, storeVectors = false } = options;
  const { bm25 = false, k1, b, stopWords = true, maxWeight } = options;
  return {
    version: packageVersion(),
    input: input === undefined ? null : await inputIdentity(input, output),
    vectors: vectors === undefined ? null : await inputIdentity(vectors, output),
    model: model ? await model.identity() : null,
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

/** What becomes of what is in the folder. */
export type Verdict = 'create' | 'go-on' | 'replace';

/** Looks at the folder of a build. IndexStateError where there is an index that is not to be touched. */
export async function judgeFolder({ input, options }: Build, identity: BuildIdentity): Promise<Verdict> {
  const { output, force = false } = options;
  await refuseFile(output);
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

async function refuseFile(output: string): Promise<void> {
  const isFile = await stat(output).then(
    (found) => !found.isDirectory(),
    () => false, // not there, or not to be seen: what makes the folder says why
  );
  if (!isFile) return;
  throw new OutputError(`${output} is a file; an index is a folder`, {
    hint: 'name a folder that is not there yet, such as -o my.index',
  });
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

type FoundBuild = BuildNote & {
  readonly numDocs: number;
  /** Made, and nothing ever written to it: who made it was killed. */
  readonly isBlank: boolean;
};

async function lookInto(folder: string): Promise<FoundBuild> {
  return await withIndex(folder, { mode: 'lean' }, async (index) => {
    const { numDocs, store } = await index.stats();
    const isLogged = (await readdir(folder)).some((name) => name.startsWith('log-'));
    return { ...noteOf(index.userState), numDocs, isBlank: store.generation === 1 && !isLogged };
  });
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
