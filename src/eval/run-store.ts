/**
 * Finished and unfinished runs on disk, so that nothing is searched twice:
 *
 *     FOLDER/COLLECTION.SPLIT/SYSTEM.trec         the run, for trec_eval and everyone else
 *     FOLDER/COLLECTION.SPLIT/SYSTEM.json         what it came from, its checksum, its costs: written last
 *     FOLDER/COLLECTION.SPLIT/SYSTEM.answers      answers of an unfinished run (answer-log.ts)
 *     FOLDER/COLLECTION.SPLIT/SYSTEM.lock         held while it is computed
 *
 * A run counts where its sidecar names the same identity and the bytes of the run file are those it was written with.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { OutputError } from '../core/index.ts';
import { formatRun, type Hit, type JobIdentity, type Run, readRun, writeLines } from '../data/index.ts';
import { acquireLock, exists, readIfExists, writeFileAtomically } from '../files/index.ts';
import { AnswerLog } from './answer-log.ts';
import type { Costs } from './costs.ts';
import type { Answer } from './system.ts';

/** Which run: names that become file names. */
export type RunKey = { readonly collection: string; readonly split: string; readonly system: string };

/** A run, and what its system costs. */
export type StoredRun = { readonly run: Run; readonly costs: Costs | undefined };

/** A run that is being computed. */
export type RunWriter = {
  /** Answers of an earlier, interrupted attempt; the computation goes on after them. */
  readonly answers: readonly Answer[];
  /** Adds answers, which survive a kill from then on. */
  write(answers: readonly Answer[]): Promise<void>;
  /** All answers are there: writes the run file and its sidecar. */
  finish(costs: Costs | undefined): Promise<StoredRun>;
  /** Releases the run, finished or not. */
  close(): Promise<void>;
};

const Sidecar = z.object({
  identity: z.record(z.string(), z.unknown()),
  sha256: z.string(),
  numQueries: z.number(),
  numHits: z.number(),
  costs: z.object({ flops: z.number(), docLen: z.number(), queryLen: z.number() }).optional(),
});

/** Runs under one folder. */
export class RunStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Where the run file of a key is, or will be. */
  pathOf({ collection, split, system }: RunKey): string {
    return join(this.#folder, fileName(`${collection}.${split}`), `${fileName(system)}.trec`);
  }

  /** A finished run of this identity; undefined where there is none, or another one's, or a damaged one. */
  async find(key: RunKey, identity: JobIdentity): Promise<StoredRun | undefined> {
    const path = this.pathOf(key);
    const text = await readIfExists(namesOf(path).sidecar);
    const sidecar = Sidecar.safeParse(text === undefined ? undefined : jsonOf(text));
    if (!sidecar.success || canonical(sidecar.data.identity) !== canonical(identity) || !(await exists(path)))
      return undefined;
    if ((await checksum(path)) !== sidecar.data.sha256) return undefined;
    const run = sidecar.data.numHits === 0 ? new Map<string, Hit[]>() : await readRun(path);
    return { run, costs: sidecar.data.costs };
  }

  /** Begins a run, or goes on with an interrupted one of the same identity. A LockedError where another process does. */
  async begin(key: RunKey, identity: JobIdentity): Promise<RunWriter> {
    const path = this.pathOf(key);
    await mkdir(dirname(path), { recursive: true }).catch((cause: unknown) => {
      throw OutputError.writing(dirname(path), cause);
    });
    const lock = acquireLock(namesOf(path).lock);
    try {
      const log = await AnswerLog.open(namesOf(path).answers, JSON.parse(canonical(identity)));
      return new OpenRun({ key, path, identity, log, release: () => lock.release() });
    } catch (error) {
      lock.release();
      throw error;
    }
  }
}

type OpenRunParts = {
  readonly key: RunKey;
  readonly path: string;
  readonly identity: JobIdentity;
  readonly log: AnswerLog;
  readonly release: () => void;
};

class OpenRun implements RunWriter {
  readonly answers: readonly Answer[];
  readonly #parts: OpenRunParts;
  readonly #run: Map<string, readonly Hit[]>;

  constructor(parts: OpenRunParts) {
    this.#parts = parts;
    this.answers = parts.log.answers;
    this.#run = new Map(this.answers.map(({ queryId, hits }) => [queryId, hits]));
  }

  async write(answers: readonly Answer[]): Promise<void> {
    // What a run file cannot hold is found out at the first answer, not after the last.
    for (const { queryId, hits } of answers) formatRun(queryId, hits, fileName(this.#parts.key.system));
    await this.#parts.log.write(answers);
    for (const { queryId, hits } of answers) this.#run.set(queryId, hits);
  }

  async finish(costs: Costs | undefined): Promise<StoredRun> {
    const { key, path, identity } = this.#parts;
    await writeLines({ path, identity, restart: true, force: true }, async (output) => {
      for (const [queryId, hits] of this.#run) await output.writeAll(formatRun(queryId, hits, fileName(key.system)));
    });
    const numHits = [...this.#run.values()].reduce((sum, hits) => sum + hits.length, 0);
    const sidecar = { identity, sha256: await checksum(path), numQueries: this.#run.size, numHits, costs };
    await writeFileAtomically(namesOf(path).sidecar, `${JSON.stringify(sidecar, undefined, 2)}\n`);
    await rm(namesOf(path).answers, { force: true });
    return { run: this.#run, costs };
  }

  async close(): Promise<void> {
    await this.#parts.log.close();
    this.#parts.release();
  }
}

function namesOf(path: string): { readonly sidecar: string; readonly answers: string; readonly lock: string } {
  const stem = path.slice(0, -'.trec'.length);
  return { sidecar: `${stem}.json`, answers: `${stem}.answers`, lock: `${stem}.lock` };
}

/** A name without anything that a file system or a run file could stumble over; different names stay different. */
function fileName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._+-]+/g, '_').replace(/^[.]+/, '_');
  const safe = plain.slice(0, 80);
  return safe === name ? safe : `${safe}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

async function checksum(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(path)) hash.update(bytes);
  return hash.digest('hex');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON with sorted keys: equal values give equal text. */
function canonical(value: JobIdentity): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))));
}
