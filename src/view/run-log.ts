/**
 * What the lines of a metrics.jsonl say: numbers by step, evaluations, alarms. Lines come from a file that may be damaged
 * or of a later version: what is not understood is counted and left out, never an error, for a view must not go dark.
 */
import { isJsonObject, type JsonObject } from '../core/index.ts';
import { Columns } from './columns.ts';
import { LengthLog } from './length-log.ts';

/** A pinned document at an evaluation. */
export type PinnedView = {
  readonly id: string;
  readonly text: string;
  readonly numTerms: number;
  readonly terms: readonly (readonly [token: string, weight: number])[];
};

/** An evaluation. */
export type EvaluationView = {
  readonly step: number;
  /** By name: ndcg@10, flops, docLen, … */
  readonly values: Readonly<Record<string, number>>;
  readonly pinned: readonly PinnedView[];
};

/** Training has collapsed. */
export type AlarmView = { readonly step: number; readonly message: string };

/** What one run has logged so far. */
export class RunLog {
  /** Of each logged step: `step` and its numbers. Steps ascend. */
  readonly rows = new Columns();
  readonly lengths = new LengthLog();
  readonly evaluations: EvaluationView[] = [];
  readonly alarms: AlarmView[] = [];
  /** Lines that were left out. */
  numBad = 0;

  /** Takes the next line. True where it was more than numbers of a step. */
  add(text: string): boolean {
    const line = parsed(text);
    const step = line?.step;
    if (line === undefined || !isStep(step)) {
      this.numBad++;
      return false;
    }
    const isEvent = this.#addEvent(step, line);
    if (line.loss === undefined) {
      if (!isEvent) this.numBad++;
    } else if (step > this.#lastStep) {
      this.rows.add(numbersOf(line));
      if (isJsonObject(line.docLens)) this.lengths.add(step, line.docLens);
    } else this.numBad++;
    return isEvent;
  }

  get #lastStep(): number {
    return this.rows.numRows === 0 ? -1 : this.rows.last('step');
  }

  #addEvent(step: number, { evaluation, pinned, alarm }: JsonObject): boolean {
    const isEvaluation = isJsonObject(evaluation);
    if (isEvaluation) this.evaluations.push({ step, values: numbersOf(evaluation), pinned: pinnedOf(pinned) });
    const isAlarm = typeof alarm === 'string';
    if (isAlarm) this.alarms.push({ step, message: alarm });
    return isEvaluation || isAlarm;
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isStep(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** JSON has no NaN: a number that was not finite is null there. */
function numbersOf(object: JsonObject): Record<string, number> {
  const numbers = Object.entries(object).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  return Object.fromEntries(numbers);
}

function pinnedOf(value: unknown): PinnedView[] {
  return Array.isArray(value) ? value.flatMap((document) => (isPinned(document) ? [document] : [])) : [];
}

function isPinned(value: unknown): value is PinnedView {
  if (!isJsonObject(value)) return false;
  const { id, text, numTerms, terms } = value;
  return (
    typeof id === 'string' &&
    typeof text === 'string' &&
    typeof numTerms === 'number' &&
    Array.isArray(terms) &&
    terms.every((term) => Array.isArray(term) && typeof term[0] === 'string' && typeof term[1] === 'number')
  );
}
