/**
 * Changes on their way to an index, in batches, some at a time. Memory is bounded by what is on its way. What the server
 * refuses for the moment is sent again, documents that are at fault themselves are handed out with the reason, any other
 * refusal ends the work, and a server that says it has too much to do gets less at a time.
 *
 * Two changes of one id never are on their way together: whichever came later would be the one that stays.
 */
import { InputError, isJsonObject, type JsonObject, type Logger, printable, silentLogger } from '../core/index.ts';
import { serverId } from './documents.ts';
import { ServerError } from './errors.ts';
import type { Backoff, Server } from './server.ts';

/** A change of one document. */
export type BulkAction =
  | { readonly kind: 'index'; readonly id: string; readonly source: string }
  | { readonly kind: 'delete'; readonly id: string };

/** A document that the server refuses for good. */
export type Rejection = {
  readonly id: string;
  readonly status: number;
  /** The server's name of the reason, such as `mapper_parsing_exception`. */
  readonly type: string;
  readonly reason: string;
  /** The document as it was sent, or as it was given where it could not be sent; undefined for a deletion. */
  readonly source: string | undefined;
};

/** How changes are sent. */
export type BulkOptions = {
  /** A batch is sent when it has so many bytes. */
  readonly batchBytes?: number | undefined;
  /** Or so many documents. */
  readonly batchDocs?: number | undefined;
  /** Batches on their way at a time, at most. */
  readonly maxInFlight?: number | undefined;
  /** How long the server may be away, or too busy. */
  readonly patienceMs?: number | undefined;
  /** Given what the server refuses for good; where left out, the first such document is an InputError. */
  readonly onRejected?: ((rejection: Rejection) => Promise<void> | void) | undefined;
  /**
   * A document that nothing is wrong with. Where a whole request is refused, the server is asked whether it would take this
   * one, which it never keeps: if not, the index is at fault, and no document of it is handed out as refused.
   */
  readonly probe?: (() => string) | undefined;
  /** Told how many changes are acknowledged. */
  readonly onAcknowledged?: ((numDone: number) => void) | undefined;
  readonly logger?: Logger | undefined;
};

/** Larger requests gain nothing on a server of one node, and cost memory on both sides. */
const DEFAULT_BATCH_BYTES = 4 * 1024 * 1024;
const DEFAULT_BATCH_DOCS = 500;
const DEFAULT_IN_FLIGHT = 2;
/** A restart with a log to replay takes minutes. */
const DEFAULT_PATIENCE_MS = 300_000;
/** Batches without a complaint before one more is sent at a time. */
const CALM_BATCHES = 8;

/** What the answer of a bulk request is reduced to, by the server. */
const ANSWER =
  'filter_path=errors,items.*.status,items.*.result,items.*.error.type,items.*.error.reason,items.*.error.caused_by';

const NDJSON = 'application/x-ndjson';
/** An id that no document has. */
const PROBE_ID = 'lzero: would you take this?';

/** Sends changes to one index. */
export class BulkWriter {
  readonly #server: Server;
  readonly #index: string;
  readonly #options: BulkOptions;
  readonly #sending = new Set<Promise<void>>();
  readonly #ids = new Set<string>();
  #batch: BulkAction[] = [];
  #batchBytes = 0;
  #limit: number;
  #numCalm = 0;
  #failure: unknown;
  /** Documents that the server has taken. */
  numIndexed = 0;
  /** Documents that were there and are not any more. */
  numDeleted = 0;
  /** Documents that were refused for good. */
  numRejected = 0;

  constructor(server: Server, index: string, options: BulkOptions = {}) {
    this.#server = server;
    this.#index = index;
    this.#options = options;
    this.#limit = options.maxInFlight ?? DEFAULT_IN_FLIGHT;
  }

  /** Adds a change; waits while too much is on its way. */
  async write(action: BulkAction): Promise<void> {
    this.#throwFailure();
    if (this.#ids.has(action.id)) await this.flush();
    const { batchBytes = DEFAULT_BATCH_BYTES, batchDocs = DEFAULT_BATCH_DOCS } = this.#options;
    this.#batch.push(action);
    this.#ids.add(action.id);
    this.#batchBytes += action.kind === 'index' ? action.source.length : action.id.length;
    if (this.#batch.length >= batchDocs || this.#batchBytes >= batchBytes) await this.#dispatch();
  }

  /** Counts a document that cannot be sent as refused for good. `source` is what was given, as JSON. */
  async refuse({ id, source }: { readonly id: string; readonly source: string }, error: InputError): Promise<void> {
    if (!this.#options.onRejected) throw error;
    this.numRejected++;
    await this.#options.onRejected({ id, status: 400, type: 'input', reason: error.message, source });
    this.#options.onAcknowledged?.(1);
  }

  /** Sends what waits, and waits until all is acknowledged. */
  async flush(): Promise<void> {
    if (this.#batch.length > 0) await this.#dispatch();
    while (this.#sending.size > 0) await Promise.all(this.#sending);
    this.#throwFailure();
  }

  /** As `flush`, after a failure or an interrupt elsewhere: what fails here too is not told. */
  async settle(): Promise<void> {
    if (this.#failure === undefined) await this.flush().catch(() => {});
    await Promise.all(this.#sending);
  }

  get #path(): string {
    return `/${encodeURIComponent(this.#index)}`;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #dispatch(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    while (this.#sending.size >= this.#limit) await Promise.race(this.#sending);
    this.#throwFailure();
    const sending = this.#send(batch)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#sending.delete(sending);
        for (const { id } of batch) this.#ids.delete(id);
      });
    this.#sending.add(sending);
  }

  async #send(batch: readonly BulkAction[]): Promise<void> {
    const { patienceMs = DEFAULT_PATIENCE_MS } = this.#options;
    const backoff = this.#server.backoff({ patienceMs, mayFinish: true });
    for (let waiting = batch; waiting.length > 0; ) {
      const { status, body } = await this.#server.ask(
        { method: 'POST', path: `${this.#path}/_bulk?${ANSWER}`, body: bulkLines(waiting) },
        {
          contentType: NDJSON,
          accept: [413],
          patienceMs,
          mayFinish: true, // encoding it took longer than sending it will
          onBusy: () => this.#sendLess(),
        },
      );
      if (status === 413) return await this.#sendHalves(waiting);
      waiting = await this.#judge(waiting, body, backoff);
    }
    this.#sendMore();
  }

  /** The server takes no request of this size. */
  async #sendHalves(batch: readonly BulkAction[]): Promise<void> {
    const reason = { status: 413, type: 'too_large', reason: 'larger than http.max_content_length of the server' };
    if (batch.length === 1) {
      await this.#reject(batch[0], reason);
      this.#options.onAcknowledged?.(1);
      return;
    }
    const half = Math.ceil(batch.length / 2);
    await this.#send(batch.slice(0, half));
    await this.#send(batch.slice(half));
  }

  /** Sorts what was answered; gives what has to be sent again, after a pause. */
  async #judge(batch: readonly BulkAction[], body: JsonObject, backoff: Backoff): Promise<readonly BulkAction[]> {
    const items = Array.isArray(body.items) ? body.items : [];
    if (items.length !== batch.length)
      throw new ServerError(`${this.#server.url}: a bulk of ${batch.length} was answered for ${items.length}`, {
        hint: 'is this an OpenSearch server?',
      });
    const outcomes = items.map(outcomeOf);
    if (outcomes.every(isOfTheDocument)) await this.#requireSoundIndex(outcomes[0]);
    const again: BulkAction[] = [];
    let busy: ItemOutcome | undefined;
    for (const [i, action] of batch.entries()) {
      const outcome = outcomes[i];
      if (outcome.status < 300 || (action.kind === 'delete' && outcome.status === 404)) this.#count(action, outcome);
      else if (isForTheMoment(outcome)) {
        again.push(action);
        busy = outcome;
      } else if (isOfTheDocument(outcome)) await this.#reject(action, outcome);
      else throw this.#notTaken(action, outcome);
    }
    this.#options.onAcknowledged?.(batch.length - again.length);
    if (!busy) return again;
    if (busy.status === 429) this.#sendLess();
    await backoff.pause(
      new ServerError(`${this.#server.url}: ${again.length} documents are not taken for the moment: ${busy.reason}`, {
        status: busy.status,
        reasonType: busy.type,
      }),
    );
    return again;
  }

  /** Whatever is wrong, the next document would fare no better. */
  #notTaken({ id }: BulkAction, { status, type, reason }: ItemOutcome): ServerError {
    const about = `${this.#server.url}/${this.#index} does not take document ${JSON.stringify(id)}`;
    return new ServerError(`${about}: status ${status}, ${type}: ${reason}`, {
      status,
      reasonType: type,
      hint: 'the index or the account is at fault, not the document: mend that, then run it again to go on',
    });
  }

  /**
   * An alias without an index to write to, a pipeline that is not there, a field of another type: each answers for every
   * document as if it were wrong. The probe asks to take the place of a version that no document has, so one that could be
   * taken is a conflict (409), and nothing is written.
   */
  async #requireSoundIndex({ status, type, reason }: ItemOutcome): Promise<void> {
    const { probe, patienceMs = DEFAULT_PATIENCE_MS } = this.#options;
    if (!probe) return;
    const head = { index: { _id: PROBE_ID, if_seq_no: Number.MAX_SAFE_INTEGER, if_primary_term: 1 } };
    const { body } = await this.#server.ask(
      { method: 'POST', path: `${this.#path}/_bulk?${ANSWER}`, body: `${JSON.stringify(head)}\n${probe()}\n` },
      { contentType: NDJSON, patienceMs, mayFinish: true },
    );
    const [item] = Array.isArray(body.items) ? body.items : [];
    const outcome = outcomeOf(item);
    if (!isOfTheDocument(outcome) || outcome.type !== type) return;
    throw new ServerError(
      `${this.#server.url}/${this.#index} takes no documents: status ${status}, ${type}: ${reason}`,
      {
        status,
        reasonType: type,
        hint: 'the index is at fault: it refuses a document that nothing is wrong with, too; mend that, then run it again to go on',
      },
    );
  }

  #count(action: BulkAction, { result }: ItemOutcome): void {
    if (action.kind === 'index') this.numIndexed++;
    else if (result === 'deleted') this.numDeleted++;
  }

  async #reject(action: BulkAction, { status, type, reason }: Omit<ItemOutcome, 'result'>): Promise<void> {
    const { onRejected } = this.#options;
    if (!onRejected)
      throw new InputError(`the server refuses document ${JSON.stringify(action.id)}: ${type}: ${reason}`, {
        hint: 'mend it, or keep such documents aside: --dead-letters FILE, in the library onRejected',
      });
    this.numRejected++;
    const source = action.kind === 'index' ? action.source : undefined;
    await onRejected({ id: action.id, status, type, reason, source });
  }

  #sendLess(): void {
    const { logger = silentLogger } = this.#options;
    this.#numCalm = 0;
    if (this.#limit === 1) return;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    logger.debug(`the server has too much to do: ${this.#limit} at a time from now on`);
  }

  #sendMore(): void {
    const { maxInFlight = DEFAULT_IN_FLIGHT } = this.#options;
    if (++this.#numCalm < CALM_BATCHES) return;
    this.#numCalm = 0;
    this.#limit = Math.min(maxInFlight, this.#limit + 1);
  }
}

/** The body of a bulk request: for each change what to do, and for an addition the document. */
export function bulkLines(actions: readonly BulkAction[]): string {
  const lines = actions.map((action) => {
    const head = JSON.stringify({ [action.kind]: { _id: serverId(action.id) } });
    return action.kind === 'index' ? `${head}\n${action.source}\n` : `${head}\n`;
  });
  return lines.join('');
}

type ItemOutcome = {
  readonly status: number;
  readonly result: string;
  readonly type: string;
  readonly reason: string;
};

function outcomeOf(item: unknown): ItemOutcome {
  const [answer] = isJsonObject(item) ? Object.values(item) : [];
  if (!isJsonObject(answer) || typeof answer.status !== 'number')
    throw new ServerError('an item of the answer to a bulk has no status', { hint: 'is this an OpenSearch server?' });
  const error = isJsonObject(answer.error) ? answer.error : {};
  const cause = isJsonObject(error.caused_by) ? `: ${String(error.caused_by.reason ?? '')}` : '';
  return {
    status: answer.status,
    result: typeof answer.result === 'string' ? answer.result : '',
    type: String(error.type ?? 'unknown'),
    reason: printable(`${String(error.reason ?? '')}${cause}`),
  };
}

/** Too much to do, or a shard that is not there yet: another time it will be taken. */
function isForTheMoment({ status }: ItemOutcome): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** Wrong in itself, or too large. A closed index answers 400 too; other statuses tell of the index, the account, the server. */
function isOfTheDocument({ status, type }: ItemOutcome): boolean {
  return (status === 400 && type !== 'index_closed_exception') || status === 413;
}
