/**
 * The folder of a run: what is where, what a run that goes on must have in common with the one before, and the lines of
 * metrics. Knows nothing of training itself.
 *
 *     config.yaml      the configuration, defaults filled in          run.json     what it was run from and on
 *     metrics.jsonl    a line a logged step or evaluation              checkpoints/ step-N.safetensors, the newest few
 *     best/            the model of the best evaluation                model/       the finished model
 *     scratch/         of an evaluation                                frozen.cache outputs of frozen layers
 *     teachers.cache/  what live teachers have encoded
 */
import { appendFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import { isJsonObject, type JsonObject, OutputError, parseJson, ResumeError } from '../../core/index.ts';
import {
  acquireLock,
  exists,
  freeBytes,
  type Lock,
  makeFolder,
  readIfExists,
  writeFileAtomically,
} from '../../files/index.ts';
import type { RunConfig } from '../states-config.ts';

/** What decides the numbers of a run, beside its configuration. */
export type RunFacts = {
  /** Identity of the base model. */
  readonly base: string;
  /** The training data: what is kept of it, and whether that was kept of the same. */
  readonly data: { describe(): Promise<JsonObject>; matches(kept: unknown): Promise<boolean> };
  /** Identity of the query weights that it begins with; undefined where there are none. */
  readonly idf: string | undefined;
  /** Identity of the development collection; undefined where there is none. */
  readonly evaluate: string | undefined;
  /** Identity of the live teachers; undefined where there are none. */
  readonly teachers: string | undefined;
};

/** How a folder is opened. */
export type RunFolderOptions = {
  /** Go on with what is there. */
  readonly resume?: boolean | undefined;
  /** Versions and the like, for whoever looks at the folder later. */
  readonly provenance?: Readonly<Record<string, string>> | undefined;
};

/** Where the outputs of frozen layers are kept, in the folder of a run. */
export const FROZEN_CACHE = 'frozen.cache';
/** Where teachers keep what they have encoded. */
export const TEACHER_FOLDER = 'teachers.cache';

const CHECKPOINT_NAME = /^step-(\d+)\.safetensors$/;

/** A run on disk. Close it: it holds a lock. */
export class RunFolder {
  readonly path: string;
  readonly #lock: Lock;

  /** Makes the folder, or goes on with one that has the same configuration and facts. */
  static async open(
    path: string,
    config: RunConfig,
    { resume = false, provenance = {}, ...facts }: RunFolderOptions & RunFacts,
  ): Promise<RunFolder> {
    makeRunFolder(path);
    const lock = acquireLock(join(path, 'run.lock'));
    try {
      const folder = new RunFolder(path, lock);
      await requireFolder(path, { resume });
      if (resume) {
        await folder.#checkSame(config, facts);
        await folder.#sweep();
      } else await folder.#begin(config, { ...facts, provenance });
      return folder;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private constructor(path: string, lock: Lock) {
    this.path = path;
    this.#lock = lock;
  }

  /** The finished model. */
  get model(): string {
    return this.#file('model');
  }

  /** The model of the best evaluation. */
  get best(): string {
    return this.#file('best');
  }

  /** A folder for what is made in between and may be deleted at any time. */
  get scratch(): string {
    return this.#file('scratch');
  }

  /** The model under evaluation. */
  get candidate(): string {
    return this.#file('scratch', 'model');
  }

  /** What the run is called. */
  get name(): string {
    return basename(resolve(this.path));
  }

  /** Makes the best model the finished one. */
  async keepBest(): Promise<void> {
    await rename(this.best, this.model);
  }

  /** Deletes what was made in between, the cache included. */
  async dropScratch(): Promise<void> {
    await rm(this.scratch, { recursive: true, force: true });
    await rm(this.#file(FROZEN_CACHE), { force: true });
    await rm(this.#file(TEACHER_FOLDER), { recursive: true, force: true });
  }

  /** The run never began: lets another one begin here. */
  async abandon(): Promise<void> {
    for (const name of ['run.json', 'config.yaml', 'metrics.jsonl', 'checkpoints'])
      await rm(this.#file(name), { recursive: true, force: true });
  }

  /** Deletes what a kill has left half written: a checkpoint or a model each. All of it is made again. */
  async #sweep(): Promise<void> {
    for (const name of await readdir(this.#file('checkpoints')))
      if (name.endsWith('.tmp')) await rm(this.#file('checkpoints', name), { force: true });
    for (const name of await readdir(this.path))
      if (/^\.(?:best|model)\./.test(name)) await rm(this.#file(name), { recursive: true, force: true });
    await rm(this.scratch, { recursive: true, force: true });
  }

  /** The checkpoint after so many steps. */
  checkpoint(step: number): string {
    return this.#file('checkpoints', `step-${String(step).padStart(8, '0')}.safetensors`);
  }

  /** The newest checkpoint; undefined where there is none. */
  async lastCheckpoint(): Promise<string | undefined> {
    const steps = await this.#checkpointSteps();
    return steps.length === 0 ? undefined : this.checkpoint(steps[steps.length - 1]);
  }

  /** Removes all checkpoints but the newest ones. */
  async dropOldCheckpoints(numKept: number): Promise<void> {
    const steps = await this.#checkpointSteps();
    for (const step of steps.slice(0, -numKept)) await rm(this.checkpoint(step), { force: true });
  }

  async #checkpointSteps(): Promise<number[]> {
    const names = await readdir(this.#file('checkpoints'));
    const steps = names.flatMap((name) => CHECKPOINT_NAME.exec(name)?.slice(1) ?? []);
    return steps.map(Number).sort((a, b) => a - b);
  }

  /** Adds a line to metrics.jsonl. */
  async log(line: JsonObject): Promise<void> {
    await appendFile(this.#file('metrics.jsonl'), `${JSON.stringify(line)}\n`).catch((cause: unknown) => {
      throw OutputError.writing(this.#file('metrics.jsonl'), cause);
    });
  }

  /**
   * Drops lines that a run has written after the checkpoint that it goes on from, and one that a kill has torn.
   *
   * @param step of the checkpoint
   * @param evaluatedStep of the newest evaluation that the checkpoint knows; a later one will be made again
   */
  async cutMetrics(step: number, evaluatedStep: number): Promise<void> {
    const text = (await readIfExists(this.#file('metrics.jsonl'))) ?? '';
    const kept = text.split('\n').filter((line) => {
      const parsed = parsedLine(line);
      return typeof parsed?.step === 'number' && parsed.step <= ('evaluation' in parsed ? evaluatedStep : step);
    });
    await writeFileAtomically(this.#file('metrics.jsonl'), kept.map((line) => `${line}\n`).join(''));
  }

  /** Throws where the disk has not the room that the run will need. */
  async requireRoom(numBytes: number): Promise<void> {
    const free = await freeBytes(this.path);
    if (free >= numBytes) return;
    const mb = (bytes: number): string => `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;
    throw new OutputError(`${this.path}: checkpoints and models need ${mb(numBytes)}, the disk has ${mb(free)} left`, {
      hint: 'free some disk space, choose another folder with -o, or keep fewer checkpoints (output.keepCheckpoints)',
    });
  }

  /** Lets others write. */
  close(): void {
    this.#lock.release();
  }

  #file(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  async #begin(config: RunConfig, about: RunFacts & Required<Pick<RunFolderOptions, 'provenance'>>): Promise<void> {
    const { provenance, data, ...facts } = about;
    const kept = { ...facts, data: await data.describe() };
    const lines = { format: 1, seed: config.optim.seed, ...kept, config, provenance };
    await mkdir(this.#file('checkpoints'), { recursive: true });
    await writeFileAtomically(this.#file('metrics.jsonl'), '');
    await writeFileAtomically(this.#file('config.yaml'), stringify(config));
    await writeFileAtomically(this.#file('run.json'), `${JSON.stringify(lines, undefined, 2)}\n`); // last: it makes the run
  }

  async #checkSame(config: RunConfig, { data, ...facts }: RunFacts): Promise<void> {
    const before = parsedLine(await readFile(this.#file('run.json'), 'utf8')) ?? {};
    const sameData = (await data.matches(before.data)) ? before.data : undefined;
    const now: JsonObject = JSON.parse(JSON.stringify({ ...facts, data: sameData, config }));
    const sections = [before.config, now.config].flatMap((of) => (isJsonObject(of) ? Object.keys(of) : []));
    const changed = [...new Set(['base', ...sections])].filter(
      (name) => name !== 'output' && !isDeepStrictEqual(part(before, name), part(now, name)),
    );
    if (changed.length === 0) return;
    throw new ResumeError(`${this.path} was begun with another ${changed.map(called).join(', ')}`, {
      hint: 'put back what it was begun with (config.yaml there), or begin anew in another folder with -o',
    });
  }
}

/** Makes the folder where it is missing. A run that is there must be one to go on with, and only then. */
export async function requireFolder(path: string, { resume = false }: Pick<RunFolderOptions, 'resume'>): Promise<void> {
  const isRun = await exists(join(path, 'run.json'));
  if (isRun && (await exists(join(path, 'model'))))
    throw new ResumeError(`${path} is a finished run`, { hint: 'name another folder with -o' });
  if (isRun && !resume)
    throw new ResumeError(`${path} has a run that is not finished`, {
      hint: 'go on with --resume, or name another folder with -o',
    });
  if (!isRun && resume)
    throw new ResumeError(`${path} has no run to go on with`, { hint: 'leave out --resume to begin one' });
  if (isRun) return;
  makeRunFolder(path);
  await refuseForeign(path);
}

/**
 * What a run leaves that was killed, or refused, before it began; locks have more at the end of their names. Nothing else:
 * a config.yaml may be somebody's own.
 */
const LEFT_BEHIND = ['run.lock', FROZEN_CACHE, TEACHER_FOLDER];

/** A run overwrites and deletes by name: it has a folder for itself. */
async function refuseForeign(path: string): Promise<void> {
  const [first, ...others] = (await readdir(path))
    .filter((name) => !LEFT_BEHIND.some((own) => name.startsWith(own)))
    .sort();
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  throw new OutputError(`${path} has files that are no run's: ${first}${more}`, {
    hint: 'name an empty or a new folder with -o',
  });
}

/** A section of the configuration, and the fact that goes with it. */
function part(run: JsonObject, name: string): unknown {
  return [run[name], isJsonObject(run.config) ? run.config[name] : undefined];
}

const FACT_NAMES: Readonly<Record<string, string>> = {
  base: 'base model',
  data: 'training data',
  idf: 'table of query weights',
  evaluate: 'evaluation',
  teachers: 'teachers',
} satisfies Record<keyof RunFacts, string>;

function called(name: string): string {
  return FACT_NAMES[name] ?? `section "${name}" of the configuration`;
}

function parsedLine(line: string): JsonObject | undefined {
  try {
    const value = parseJson(line, (problem) => new ResumeError(problem));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function makeRunFolder(path: string): void {
  try {
    makeFolder(path);
  } catch (cause) {
    throw OutputError.writing(path, cause);
  }
}
