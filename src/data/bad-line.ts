/** What can be wrong with a line of input, and the tally of what a reader met. Knows neither files nor formats. */

/** Kinds of bad lines and pages. Programs may compare them. */
export type BadReason =
  | 'line-too-long'
  | 'invalid-utf8'
  | 'not-json'
  | 'not-an-object'
  | 'repeated-key'
  | 'wrong-columns'
  | 'header'
  | 'missing-field'
  | 'wrong-type'
  | 'bad-weight'
  | 'duplicate-id'
  | 'unreadable'
  | 'too-large'
  | 'not-text';

/** A line that cannot be used: returned in place of its value, because bad lines may be many and exceptions are slow. */
export class BadLine {
  readonly reason: BadReason;
  /** What was expected and what came, without file and line. */
  readonly message: string;
  /** What to do about it, where it is known. */
  readonly hint: string | undefined;

  constructor(reason: BadReason, message: string, hint?: string) {
    this.reason = reason;
    this.message = message;
    this.hint = hint;
  }
}

/** A piece of the input for a message, cut where a hostile line would flood the terminal. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/** A bad line or page and where it is. */
export type Problem = {
  readonly reason: BadReason;
  readonly file: string;
  /** Line number, from 1; undefined for pages. */
  readonly line: number | undefined;
  readonly message: string;
};

/** Examples kept in a report; the rest is only counted. */
const MAX_EXAMPLES = 5;
/** Files without text that a report names. */
const MAX_EMPTY_FILES = 1000;

/** What a reader met so far. Complete once the iteration has ended. */
export class ReadReport {
  /** Records handed out. */
  numRead = 0;
  /** Records without any text, left out. */
  numEmpty = 0;
  /** The first of them, where they are files. */
  readonly emptyFiles: string[] = [];
  /** Bad lines, left out, by reason. */
  readonly badByReason: Partial<Record<BadReason, number>> = {};
  /** The first few bad lines. */
  readonly examples: Problem[] = [];

  /** All bad lines. */
  get numBad(): number {
    return Object.values(this.badByReason).reduce((sum, count) => sum + count, 0);
  }

  /** Counts a file without text. */
  addEmpty(file: string): void {
    this.numEmpty++;
    if (this.emptyFiles.length < MAX_EMPTY_FILES) this.emptyFiles.push(file);
  }

  /** Counts a bad line. */
  add(problem: Problem): void {
    this.badByReason[problem.reason] = (this.badByReason[problem.reason] ?? 0) + 1;
    if (this.examples.length < MAX_EXAMPLES) this.examples.push(problem);
  }
}
