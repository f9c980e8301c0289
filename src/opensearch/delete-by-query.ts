/**
 * Deletes what a query finds. That may take minutes, so the server does it as a task that we ask for: a request that stayed
 * open so long would be taken for lost, and sent again while the first still works.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../core/index.ts';
import { ServerError } from './errors.ts';
import { type Refreshed, refresh } from './refresh.ts';
import type { Server } from './server.ts';

/** What is deleted, where. */
export type DeleteByQuery = Refreshed & { readonly query: JsonObject };

/** Pauses between questions grow from the first to the second. */
const POLL_MS: readonly [number, number] = [20, 2000];
/** A conflict is a document that was written meanwhile: it is looked at again, so often. */
const MAX_ROUNDS = 5;

/** Deletes, and says how many there were. A ServerError where some could not be. */
export async function deleteByQuery(server: Server, asked: DeleteByQuery): Promise<number> {
  let numDeleted = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { deleted, conflicts, failure } = await oneRound(server, asked);
    numDeleted += deleted;
    if (failure !== undefined)
      throw new ServerError(`${server.url}/${asked.index}: not all could be deleted: ${failure}`, {
        hint: `${numDeleted} were; run it again for the others`,
      });
    if (conflicts === 0) return numDeleted;
    await refresh(server, asked);
  }
  throw new ServerError(`${server.url}/${asked.index}: documents to be deleted are written again and again`, {
    hint: 'somebody else fills the index: run it again when that has ended',
  });
}

type Round = { readonly deleted: number; readonly conflicts: number; readonly failure: string | undefined };

async function oneRound(server: Server, { index, query }: DeleteByQuery): Promise<Round> {
  const path = `/${encodeURIComponent(index)}/_delete_by_query?conflicts=proceed&wait_for_completion=false`;
  const { body } = await server.ask({ method: 'POST', path, body: JSON.stringify({ query }) });
  if (typeof body.task !== 'string')
    throw new ServerError(`${server.url}/${index}: the answer to a deletion names no task`, {
      hint: 'is this an OpenSearch server?',
    });
  return roundOf(await finished(server, body.task));
}

async function finished(server: Server, task: string): Promise<JsonObject> {
  const [first, longest] = POLL_MS;
  for (let pauseMs = first; ; pauseMs = Math.min(longest, pauseMs * 2)) {
    const path = `/_tasks/${task.split(':').map(encodeURIComponent).join(':')}`;
    const { body } = await server.ask({ method: 'GET', path });
    if (body.completed === true) return body;
    await sleep(pauseMs);
  }
}

function roundOf({ response, error }: JsonObject): Round {
  const { deleted, version_conflicts: conflicts, failures } = isJsonObject(response) ? response : {};
  const [first] = Array.isArray(failures) ? failures : [];
  const failure = error ?? first;
  return {
    deleted: typeof deleted === 'number' ? deleted : 0,
    conflicts: typeof conflicts === 'number' ? conflicts : 0,
    failure: failure === undefined ? undefined : JSON.stringify(failure).slice(0, 300),
  };
}
