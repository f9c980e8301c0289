/** Names of models on a hub: OWNER/NAME, and OWNER/NAME@REVISION. Knows nothing of servers or folders. */
import { UsageError } from '../../core/index.ts';

/** A model on a hub. */
export type ModelName = {
  /** OWNER/NAME. */
  readonly id: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
};

/** What a name without a revision means. */
export const DEFAULT_REVISION = 'main';

/** As hubs allow them: no "--" and no "..", so that OWNER--NAME is the name of one folder and of no other. */
const PART = /^(?!.*(?:--|\.\.))[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?$/;
const MAX_ID_CHARACTERS = 96;

/** Names of git: no path that leads elsewhere, nothing that an address or a terminal takes amiss. */
const REVISION = /^(?!.*(?:\.\.|\/\/|\/$))[A-Za-z0-9_][\w./+-]*$/;
const COMMIT = /^[0-9a-f]{40}$/;

/** Reads OWNER/NAME[@REVISION]; undefined where the text is something else, such as a path. */
export function readModelName(text: string): ModelName | undefined {
  const at = text.indexOf('@');
  const id = at < 0 ? text : text.slice(0, at);
  const revision = at < 0 ? DEFAULT_REVISION : text.slice(at + 1);
  const parts = id.split('/');
  const isId = parts.length === 2 && parts.every((part) => PART.test(part)) && id.length <= MAX_ID_CHARACTERS;
  return isId && REVISION.test(revision) ? { id, revision } : undefined;
}

/** Reads OWNER/NAME[@REVISION], or says what a name looks like. */
export function requireModelName(text: string): ModelName {
  const name = readModelName(text);
  if (name) return name;
  throw new UsageError(`${JSON.stringify(text)} is not the name of a model`, {
    hint: 'expected OWNER/NAME or OWNER/NAME@REVISION, such as naver/splade-v3@main',
  });
}

/** The name as people type it. */
export function formatModelName({ id, revision }: ModelName): string {
  return revision === DEFAULT_REVISION ? id : `${id}@${revision}`;
}

/** Whether a revision names one state of the files for ever. */
export function isCommit(revision: string): boolean {
  return COMMIT.test(revision);
}
