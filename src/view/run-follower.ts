/**
 * One run folder, followed while it is written, killed, gone on with or begun anew. Only reads, takes no lock, and does not
 * mind a folder that is not there yet.
 */
import { randomInt } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { isJsonObject, type JsonObject, messageOf } from '../core/index.ts';
import { exists, isLocked, readIfExists } from '../files/index.ts';
import type { Table } from './columns.ts';
import { FollowedFile } from './followed-file.ts';
import type { LengthHistogramAt } from './length-log.ts';
import type { AlarmView, EvaluationView } from './run-log.ts';
import { RunLog } from './run-log.ts';

/**
 * How a run stands: `waiting` has no run yet, `running` has a process that lives, `finished` has its model, `collapsed` was
 * stopped by an alarm, `stopped` by anything else: Ctrl-C, an error, a kill.
 */
export type RunState = 'waiting' | 'running' | 'finished' | 'collapsed' | 'stopped';

/** What a page must know to tell whether it has the newest of everything. */
export type RunHead = {
  /** Its number among the runs of the view, from 0. */
  readonly id: number;
  readonly name: string;
  readonly state: RunState;
  /** Grows from any beginning, when rows that were there are gone: a run that goes on from a checkpoint, or begins anew. */
  readonly generation: number;
  /** Logged steps. */
  readonly numRows: number;
  /** Grows with everything else that `RunDetails` has. */
  readonly version: number;
};

/** All of a run but its rows. */
export type RunDetails = RunHead & {
  /** Where it is. */
  readonly folder: string;
  /** The configuration with all defaults; null until the run has begun. */
  readonly config: JsonObject | null;
  readonly evaluations: readonly EvaluationView[];
  readonly alarms: readonly AlarmView[];
  /** Lines of metrics.jsonl that could not be understood. */
  readonly numBadLines: number;
  /** Why the folder cannot be read; null where it can. */
  readonly problem: string | null;
};

/** Follows a run. */
export class RunFollower {
  readonly id: number;
  readonly folder: string;
  readonly name: string;
  readonly #metrics: FollowedFile;
  #log = new RunLog();
  #config: JsonObject | null = null;
  #configText = '';
  #state: RunState = 'waiting';
  #problem: string | null = null;
  #generation = randomInt(2 ** 40); // no page takes the rows of another view for ours
  #version = 0;

  constructor(id: number, folder: string, name = basename(resolve(folder))) {
    this.id = id;
    this.folder = folder;
    this.name = name;
    this.#metrics = new FollowedFile(join(folder, 'metrics.jsonl'));
  }

  /** Reads what is new. */
  async poll(): Promise<void> {
    try {
      await this.#readConfig();
      await this.#metrics.poll({ restart: () => this.#restart(), line: (text) => this.#add(text) });
      this.#become(await this.#findState(), null);
    } catch (error) {
      this.#become(this.#state, messageOf(error)); // unreadable now, perhaps not at the next look
    }
  }

  get head(): RunHead {
    const { id, name } = this;
    const [state, generation, version] = [this.#state, this.#generation, this.#version];
    return { id, name, state, generation, numRows: this.#log.rows.numRows, version };
  }

  get details(): RunDetails {
    const { evaluations, alarms, numBad } = this.#log;
    const [config, problem] = [this.#config, this.#problem];
    return { ...this.head, folder: this.folder, config, evaluations, alarms, numBadLines: numBad, problem };
  }

  /** Logged steps from the given one on. */
  rowsFrom(row: number): Table {
    return this.#log.rows.from(row);
  }

  /** How long documents were at a step. */
  lengthsAt(step: number): LengthHistogramAt | undefined {
    return this.#log.lengths.at(step);
  }

  #restart(): void {
    this.#log = new RunLog();
    this.#generation++;
    this.#version++;
  }

  #add(line: string): void {
    const { numBad } = this.#log;
    if (this.#log.add(line) || this.#log.numBad !== numBad) this.#version++;
  }

  /** run.json is written whole, and only where a run begins. */
  async #readConfig(): Promise<void> {
    const text = (await readIfExists(join(this.folder, 'run.json'))) ?? '';
    if (text === this.#configText) return;
    const run: unknown = text === '' ? undefined : JSON.parse(text);
    this.#configText = text;
    this.#config = isJsonObject(run) && isJsonObject(run.config) ? run.config : null;
    this.#version++;
  }

  async #findState(): Promise<RunState> {
    if (isLocked(join(this.folder, 'run.lock'))) return 'running';
    if (this.#configText === '') return 'waiting';
    if (await exists(join(this.folder, 'model'))) return 'finished';
    const alarm = this.#log.alarms.at(-1);
    const wentOn = alarm !== undefined && this.#log.rows.numRows > 0 && this.#log.rows.last('step') > alarm.step;
    return alarm !== undefined && !wentOn ? 'collapsed' : 'stopped';
  }

  #become(state: RunState, problem: string | null): void {
    if (state !== this.#state || problem !== this.#problem) this.#version++;
    this.#state = state;
    this.#problem = problem;
  }
}
