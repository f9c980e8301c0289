/**
 * The runs as the server has them, kept up to date: it tells what has changed, the page asks for that alone. A page that
 * nobody sees asks for nothing. Where the connection is lost, the browser tries again by itself, also after hours.
 */
import type { RunHead } from '../../src/view/index.ts';
import { decodeRows } from './rows.ts';
import { Run } from './run.ts';

/** Whether the page hears from the server. */
export type Connection = 'connecting' | 'live' | 'lost';

/** What the page shows. */
export type LiveState = {
  readonly connection: Connection;
  readonly runs: readonly Run[];
  /** Grows with every change. */
  readonly revision: number;
};

/** Keeps runs up to date, and tells of changes, until it is stopped. */
export function followRuns(onChange: (state: LiveState) => void): () => void {
  let runs: Run[] = [];
  let revision = 0;
  let connection: Connection = 'connecting';
  const tell = (): void => onChange({ connection, runs, revision: revision++ });
  const become = (next: Connection): void => {
    if (next === connection) return;
    connection = next;
    tell();
  };
  const updates = new Updates(
    async (heads) => {
      runs = heads.map((head) => runs.find(({ id }) => id === head.id) ?? new Run(head));
      const changes = await Promise.all(runs.map((run, i) => update(run, heads[i])));
      if (changes.some(Boolean)) tell();
    },
    () => become('lost'),
  );
  let source: EventSource | undefined;
  const connect = (): void => {
    if (document.hidden) {
      source?.close();
      source = undefined;
    } else if (source === undefined) {
      source = new EventSource('api/events');
      source.onmessage = ({ data }) => {
        become('live');
        updates.take(JSON.parse(data));
      };
      source.onerror = () => {
        become('lost');
        if (source?.readyState === EventSource.CLOSED) retry(); // refused: browsers give up then
      };
    }
  };
  const retry = (): void => {
    source?.close();
    source = undefined;
    setTimeout(connect, RETRY_MS);
  };
  document.addEventListener('visibilitychange', connect);
  connect();
  return () => {
    document.removeEventListener('visibilitychange', connect);
    source?.close();
  };
}

/** Longest pause between two updates. */
const LONGEST_PAUSE_MS = 5000;
/** Pause for each logged step: of 20,000 a second, since the next one hardly changes a curve. */
const PAUSE_MS_PER_ROW = 0.05;

/** One update at a time, of the newest heads; where only rows are new, the longer a run is the less often. */
class Updates {
  readonly #update: (heads: readonly RunHead[]) => Promise<void>;
  readonly #onFailure: () => void;
  #next: readonly RunHead[] | undefined;
  #done: readonly RunHead[] = [];
  #doneMs = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isBusy = false;

  constructor(update: (heads: readonly RunHead[]) => Promise<void>, onFailure: () => void) {
    this.#update = update;
    this.#onFailure = onFailure;
  }

  take(heads: readonly RunHead[]): void {
    this.#next = heads;
    this.#plan();
  }

  #plan(): void {
    if (this.#isBusy || this.#next === undefined) return;
    clearTimeout(this.#timer);
    const readyMs = this.#doneMs + pauseMs(this.#done, this.#next);
    this.#timer = setTimeout(() => this.#run(), Math.max(0, readyMs - performance.now()));
  }

  async #run(): Promise<void> {
    const heads = this.#next ?? [];
    this.#next = undefined;
    this.#isBusy = true;
    try {
      await this.#update(heads);
      this.#done = heads;
    } catch {
      this.#done = []; // whatever comes next is asked for at once
      this.#onFailure();
    }
    this.#isBusy = false;
    this.#doneMs = performance.now();
    this.#plan();
  }
}

function pauseMs(done: readonly RunHead[], next: readonly RunHead[]): number {
  const isSame = (head: RunHead, i: number): boolean =>
    head.version === done[i]?.version && head.generation === done[i].generation;
  if (!next.every(isSame)) return 0; // an evaluation, an alarm, another state: at once
  const numRows = next.reduce((sum, head) => sum + head.numRows, 0);
  return Math.min(LONGEST_PAUSE_MS, PAUSE_MS_PER_ROW * numRows);
}

const RETRY_MS = 2000;

/** Asks for what a run has more than the page. True where that is anything. */
async function update(run: Run, head: RunHead): Promise<boolean> {
  const { rows, details } = run;
  const hasNewRows = head.generation !== rows.generation || head.numRows !== rows.numRows;
  const hasNewDetails = head.generation !== details?.generation || head.version !== details.version;
  if (hasNewDetails) run.details = await (await ask(`api/runs/${run.id}`)).json();
  if (hasNewRows) await updateRows(run);
  run.head = head;
  return hasNewRows || hasNewDetails;
}

async function updateRows({ id, rows }: Run): Promise<void> {
  const from = (row: number) => ask(`api/runs/${id}/rows?generation=${rows.generation}&from=${row}`);
  const isWhole = rows.receive(decodeRows(await (await from(rows.numRows)).arrayBuffer()));
  if (!isWhole) rows.receive(decodeRows(await (await from(0)).arrayBuffer()));
}

/** A request that must be answered. */
export async function ask(path: string): Promise<Response> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}
