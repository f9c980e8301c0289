/**
 * Kills a writer again and again, and checks after each kill that nothing acknowledged is lost:
 *
 *     - verifyStore finds no fault;
 *     - a reader sees a commit that is at least the last one acknowledged, whole: every document, its fields, its state,
 *       and the answers of scoring one by one;
 *     - the next writer has everything that was acknowledged, in order, and at most what was begun after it, each call
 *       whole or not at all.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Random } from '../../src/core/index.ts';
import { exists } from '../../src/files/index.ts';
import { openReader, openWriter, verifyStore } from '../../src/store/index.ts';
import { bestOf, documentOf, QUERIES } from '../../test/store/documents.ts';

const WRITER = resolve(import.meta.dirname, '../crash-writer.ts');

const lineSchema = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ begin: z.int(), add: z.array(z.tuple([z.string(), z.int()])) }),
  z.object({ begin: z.int(), delete: z.array(z.string()) }),
  z.object({ begin: z.int(), commit: z.int() }),
  z.object({ begin: z.int(), merge: z.literal(true) }),
  z.object({ end: z.int() }),
]);
type Line = z.infer<typeof lineSchema>;

/** Versions of documents by id, in the order of the last add. */
type State = ReadonlyMap<string, number>;
/** One step of the log; `numCall` is the call that it belongs to. */
type Step = { readonly numCall: number } & (
  | { readonly add: readonly [string, number] }
  | { readonly delete: readonly string[] }
  | { readonly commit: number }
);

/** What a round came to. */
export type CrashRound = {
  /** Calls that were acknowledged before the kill. */
  readonly numAcknowledged: number;
  readonly numCommits: number;
  readonly numDocs: number;
};

/** A folder and what is known to be in it. */
export class CrashBench {
  readonly #folder: string;
  readonly #random: Random;
  #committed: State = new Map();
  #userState: number | null = null;
  #working: State = new Map();
  #version = 0;

  constructor(folder: string, random: Random) {
    this.#folder = folder;
    this.#random = random;
  }

  /** Starts a writer, kills it, and checks. Throws where something is missing or wrong. */
  async round(): Promise<CrashRound> {
    const lines = await this.#runAndKill();
    const steps = stepsOf(lines);
    const acknowledged = new Set(lines.flatMap((line) => ('end' in line ? [line.end] : [])));
    this.#version = Math.max(this.#version, ...steps.map(nextVersion));
    if (!(await exists(resolve(this.#folder, 'manifest.json')))) {
      if (lines.length > 0) throw new Error('a writer was ready, and there is no index');
      return { numAcknowledged: 0, numCommits: 0, numDocs: 0 };
    }
    await this.#checkFiles();
    await this.#checkReader(steps, acknowledged);
    await this.#checkWriter(steps, acknowledged);
    await this.#checkFiles();
    const numCommits = steps.filter((step) => 'commit' in step && acknowledged.has(step.numCall)).length;
    return { numAcknowledged: acknowledged.size, numCommits, numDocs: this.#working.size };
  }

  async #runAndKill(): Promise<Line[]> {
    const args = ['--import', 'tsx', WRITER, this.#folder, String(this.#random.uint32()), String(this.#version)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const lines: Line[] = [];
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const output = createInterface({ input: child.stdout });
    output.on('line', (text) => {
      const parsed = parseLine(text);
      if (parsed) lines.push(parsed);
    });
    const ended = once(child, 'close');
    // Most are killed at work, some while they start and replay.
    if (this.#random.below(5) > 0) await Promise.race([once(output, 'line'), ended]);
    await Promise.race([setTimeout(this.#random.below(1200)), ended]);
    child.kill('SIGKILL');
    const [code, signal] = await ended;
    if (signal !== 'SIGKILL') throw new Error(`the writer ended by itself, with ${code ?? signal}: ${errors}`);
    return lines;
  }

  async #checkFiles(): Promise<void> {
    const { faults } = await verifyStore(this.#folder);
    if (faults.length > 0) throw new Error(`verify: ${JSON.stringify(faults)}`);
  }

  async #checkReader(steps: readonly Step[], acknowledged: ReadonlySet<number>): Promise<void> {
    const reader = await openReader(this.#folder);
    try {
      const commits = steps.flatMap((step, i) => ('commit' in step ? [{ ...step, i }] : []));
      const last = commits.findLastIndex(({ numCall }) => acknowledged.has(numCall));
      const found = commits.slice(Math.max(0, last)).find(({ commit }) => commit === reader.userState);
      if (!found && (last >= 0 || reader.userState !== this.#userState))
        throw new Error(`the reader sees state ${reader.userState}, acknowledged was ${commits.at(last)?.commit}`);
      const expected = found ? apply(this.#working, steps.slice(0, found.i)) : this.#committed;
      const documents = Array.from(expected, ([id, version]) => documentOf(id, version));
      for (const { document } of documents) requireEqual(reader.get(document.id), document, 'a stored document');
      requireEqual([...reader.ids()], [...expected.keys()], 'the ids of a commit');
      for (const query of QUERIES) {
        const hits = (await reader.search(query, { k: 20 })).map(({ id, score }) => ({ id, score }));
        requireEqual(hits, bestOf(documents, query, 20), 'the answer to a query');
      }
    } finally {
      await reader.close();
    }
  }

  /** Opens a writer, commits what it brings back, and takes that for the state from now on. */
  async #checkWriter(steps: readonly Step[], acknowledged: ReadonlySet<number>): Promise<void> {
    const writer = await openWriter(this.#folder, { autoMerge: false });
    this.#userState = this.#version++;
    await writer.commit(this.#userState);
    await writer.close();
    const reader = await openReader(this.#folder);
    const found = [...reader.ids()].map((id) => [id, reader.get(id)?.title] as const);
    await reader.close();
    const first = 1 + steps.findLastIndex(({ numCall }) => acknowledged.has(numCall));
    for (let count = first; count <= steps.length; count++) {
      if (count > 0 && steps[count - 1].numCall === steps[count]?.numCall) continue; // in the middle of a call
      const state = apply(this.#working, steps.slice(0, count));
      const expected = Array.from(state, ([id, version]) => [id, documentOf(id, version).document.title] as const);
      if (!isDeepStrictEqual(found, expected)) continue;
      this.#working = state;
      this.#committed = state;
      return;
    }
    throw new Error(`no state of ${first} to ${steps.length} steps is what the next writer brought back`);
  }
}

/** The line, unless the kill cut it. */
function parseLine(text: string): Line | undefined {
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function stepsOf(lines: readonly Line[]): Step[] {
  return lines.flatMap((line): Step[] => {
    if ('add' in line) return line.add.map((add) => ({ numCall: line.begin, add }));
    if ('delete' in line) return [{ numCall: line.begin, delete: line.delete }];
    return 'commit' in line ? [{ numCall: line.begin, commit: line.commit }] : [];
  });
}

/** The first version that a step has not used. */
function nextVersion(step: Step): number {
  if ('add' in step) return step.add[1] + 1;
  return 'commit' in step ? step.commit + 1 : 0;
}

function apply(start: State, steps: readonly Step[]): State {
  const state = new Map(start);
  for (const step of steps) {
    if ('delete' in step) for (const id of step.delete) state.delete(id);
    if (!('add' in step)) continue;
    const [id, version] = step.add;
    state.delete(id);
    state.set(id, version);
  }
  return state;
}

function requireEqual(found: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(found, expected))
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(found)}`);
}
