/**
 * A hub that does not give a model: why, as far as it says, and what to do. Asks it once more what there is instead.
 *
 *     X-Error-Code      GatedRepo, RepoNotFound, RevisionNotFound
 *     401               no login, where one is needed; also for models that do not exist, lest their names be known
 *     403               a login that may not
 */
import { z } from 'zod';
import { DownloadError, nearest, printable } from '../../core/index.ts';
import { type ExplainStatus, fetchText } from '../../download/index.ts';
import { type HubRequest, type HubSettings, hubHeaders } from './hub-settings.ts';
import type { ModelName } from './model-name.ts';

/** Why a hub refuses. `login`: it wants one, and does not say whether that would help. */
export type Refusal = 'gated' | 'login' | 'token' | 'forbidden' | 'no-model' | 'no-revision' | 'not-found';

/** The reason for an answer; undefined where trouble of another kind is the matter. */
export function refusalOf(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  { hasToken }: { readonly hasToken: boolean },
): Refusal | undefined {
  const byCode = CODES[headers.get('x-error-code') ?? ''];
  if (byCode && status !== 401) return byCode;
  if (status === 401) return byCode === 'gated' ? byCode : hasToken ? 'token' : 'login';
  if (status === 403) return 'forbidden';
  return status === 404 || status === 410 ? 'not-found' : undefined;
}

const CODES: Readonly<Record<string, Refusal | undefined>> = {
  GatedRepo: 'gated',
  RepoNotFound: 'no-model',
  RevisionNotFound: 'no-revision',
};

/** What is asked for. */
type Asked = {
  readonly name: ModelName;
  readonly hub: HubSettings;
  readonly request: HubRequest;
  /** Whether it is a file that the hub has listed: the model is there then, whatever the file's address says. */
  readonly isListed?: boolean;
};

/** What was asked for, and how it was refused. */
type Refused = Asked & { readonly refusal: Refusal };

/** Does something that asks the hub. Where the hub refuses, the error says why and what to do. */
export async function orRefused<T>(asked: Asked, work: (explainStatus: ExplainStatus) => Promise<T>): Promise<T> {
  const { endpoint, token } = asked.hub;
  const seen: { refusal?: Refusal | undefined } = {};
  const explainStatus: ExplainStatus = (response) => {
    // Of those that it refers to, the hub's reasons are not known.
    const isHub = response.url === '' || new URL(response.url).origin === new URL(endpoint).origin;
    const refusal = isHub ? refusalOf(response, { hasToken: token !== undefined }) : undefined;
    seen.refusal = refusal === 'not-found' && asked.isListed ? undefined : refusal;
    return undefined;
  };
  try {
    return await work(explainStatus);
  } catch (cause) {
    if (seen.refusal === undefined) throw cause;
    const { message, hint } = await explain({ ...asked, refusal: seen.refusal });
    throw new DownloadError(message, { hint, cause });
  }
}

type Words = { readonly message: string; readonly hint: string };

async function explain(refused: Refused): Promise<Words> {
  const { name, hub, refusal } = refused;
  const { id } = name;
  switch (refusal) {
    case 'gated':
      return { message: `${id} is gated: its publisher wants its terms accepted first`, hint: accessHint(id, hub) };
    case 'forbidden':
      return { message: `the hub does not give ${id} to this account (403)`, hint: accessHint(id, hub) };
    case 'token':
      return {
        message: `the hub does not accept the token in HF_TOKEN (401)`,
        hint: `make a new one at ${hub.endpoint}/settings/tokens, or unset HF_TOKEN for public models`,
      };
    case 'login':
      return {
        message: `the hub gives ${id} to nobody without a login (401): it is gated or private, or there is no such model`,
        hint: `${await similarModels(refused)}; if the name is right, ${accessHint(id, hub)}`,
      };
    case 'no-model':
      return {
        message: `there is no model ${id} at ${hub.endpoint}, or it is private`,
        hint: await similarModels(refused),
      };
    case 'no-revision':
      return { message: `${id} has no revision ${name.revision}`, hint: await otherRevisions(refused) };
    case 'not-found': {
      const revisions = await revisionsOf(refused);
      return await explain({ ...refused, refusal: revisions.length > 0 ? 'no-revision' : 'no-model' });
    }
    default:
      return refusal satisfies never;
  }
}

function accessHint(id: string, { endpoint, token }: HubSettings): string {
  const page = `accept the terms at ${endpoint}/${id}`;
  return token === undefined
    ? `${page}, make a token at ${endpoint}/settings/tokens, and set HF_TOKEN to it`
    : `${page} with the account of HF_TOKEN, and let the token read gated models`;
}

// ---- what there is instead

const modelsSchema = z.array(z.object({ id: z.string() }));
const refsSchema = z.object({
  branches: z.array(z.object({ name: z.string() })),
  tags: z.array(z.object({ name: z.string() })).default([]),
});

/** Names or revisions that a hint shows. */
const MAX_SHOWN = 5;
/** Nobody waits long for a suggestion. */
const STALL_MS = 5000;

async function similarModels(refused: Refused): Promise<string> {
  const { id } = refused.name;
  const [owner, model] = id.split('/').map(encodeURIComponent);
  const lists = await Promise.all([
    ask(refused, `models?search=${model}&limit=20`, modelsSchema),
    ask(refused, `models?author=${owner}&limit=100`, modelsSchema),
  ]);
  const ids = [...new Set(lists.flatMap((list) => list ?? []).map((found) => found.id))].filter(
    (found) => found !== id,
  );
  const meant = nearest(id, ids);
  if (meant !== undefined) return printable(`did you mean ${meant}?`);
  if (ids.length > 0) return printable(`check the name; the hub has ${ids.slice(0, MAX_SHOWN).join(', ')}`);
  return 'check the name: OWNER/NAME, as in the address of its page';
}

async function otherRevisions(refused: Refused): Promise<string> {
  const revisions = await revisionsOf(refused);
  const meant = nearest(refused.name.revision, revisions);
  if (meant !== undefined) return printable(`did you mean ${meant}?`);
  if (revisions.length === 0) return 'give a branch, a tag or a whole commit';
  const more = revisions.length > MAX_SHOWN ? ', …' : '';
  return printable(`it has ${revisions.slice(0, MAX_SHOWN).join(', ')}${more}; a commit is given in full`);
}

async function revisionsOf(refused: Refused): Promise<string[]> {
  const refs = await ask(refused, `models/${refused.name.id}/refs`, refsSchema);
  return refs ? [...refs.branches, ...refs.tags].map(({ name }) => name) : [];
}

/** One more question; whatever goes wrong with it, there is an error to tell already. */
async function ask<T>({ hub, request }: Refused, path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const stallMs = Math.min(STALL_MS, request.stallMs ?? STALL_MS);
  try {
    const options = { ...request, stallMs, retries: 0, headers: hubHeaders(hub) };
    return schema.safeParse(JSON.parse(await fetchText(`${hub.endpoint}/api/${path}`, options))).data;
  } catch {
    return undefined;
  }
}
