/**
 * What `lzero index` and `lzero eval` note in an index that they make: of what it is made, and whether all of it is there.
 * Every command on an index can tell by it that a build was stopped half-way.
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

/** What `lzero eval` commits with the documents of an index: of what it is made, the folder's name says. */
export const EVAL_STATES = { unfinished: 'unfinished', finished: 'finished' } as const;

/** Reads what was committed. An index that somebody else made is as it was meant to be. */
export function noteOf(userState: UserState): BuildNote {
  if (userState === EVAL_STATES.unfinished) return { job: undefined, finished: false };
  if (!isObject(userState) || !isObject(userState.job)) return { job: undefined, finished: true };
  return { job: userState.job, finished: userState.finished === true };
}

/** Whether the command that makes it was stopped before all documents were in. */
export function isUnfinished({ userState }: { readonly userState: UserState }): boolean {
  return !noteOf(userState).finished;
}

/** Warns that answers come from a part of the documents. */
export function warnIfUnfinished(
  logger: Logger,
  index: { readonly folder: string; readonly userState: UserState },
): void {
  const { job, finished } = noteOf(index.userState);
  if (finished) return;
  const command = job ? '`lzero index`' : '`lzero eval`';
  logger.warn(`${index.folder} is unfinished: ${command} was stopped, and a part of the documents is missing`);
  logger.warn(`hint: run the same ${command} command again, it goes on where it stopped`);
}

function isObject(value: UserState): value is { [name: string]: UserState } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
