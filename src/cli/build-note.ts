/**
 * What `lzero index` notes in the index that it makes: of what it is made, and whether all of it is there. Every command
 * on an index can tell by it that a build was stopped half-way.
 */
import type { Logger } from '../core/index.ts';
import type { UserState } from '../store/index.ts';

/** Settings by name, as they are committed. */
export type BuildIdentity = Readonly<Record<string, UserState>>;

/** What a note says. */
export type BuildNote = {
  /** What was built; undefined where it was not `lzero index` that made the index. */
  readonly job: BuildIdentity | undefined;
  readonly finished: boolean;
};

/** What is committed with the documents of a build. */
export function buildStates(identity: BuildIdentity): { readonly unfinished: UserState; readonly finished: UserState } {
  return { unfinished: { job: { ...identity }, finished: false }, finished: { job: { ...identity }, finished: true } };
}

/** Reads what was committed. An index that somebody else made is as it was meant to be. */
export function noteOf(userState: UserState): BuildNote {
  if (!isObject(userState) || !isObject(userState.job)) return { job: undefined, finished: true };
  return { job: userState.job, finished: userState.finished === true };
}

/** Whether `lzero index` was stopped before all documents were in. */
export function isUnfinished({ userState }: { readonly userState: UserState }): boolean {
  return !noteOf(userState).finished;
}

/** Warns that answers come from a part of the documents. */
export function warnIfUnfinished(
  logger: Logger,
  index: { readonly folder: string; readonly userState: UserState },
): void {
  if (!isUnfinished(index)) return;
  logger.warn(`${index.folder} is unfinished: \`lzero index\` was stopped, and a part of the documents is missing`);
  logger.warn('hint: run the same `lzero index` command again, it goes on where it stopped');
}

function isObject(value: UserState): value is { [name: string]: UserState } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
