/**
 * What a person sees on stderr: log lines and the progress of long work. On a terminal progress is one line, drawn
 * again in place; elsewhere a plain line every ten seconds. Stream and clock come in from outside.
 */
import { type Logger, type Progress, RateMeter } from '../core/index.ts';
import { formatBytes, formatCount, formatDuration, formatRate } from './format.ts';

/** The part of a stream that is written to. */
export type TextStream = {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
};

/** How much is said: only errors, the usual, or everything. */
export type Verbosity = 'quiet' | 'normal' | 'verbose';

/** Milliseconds between two drawings of the line on a terminal. */
const REDRAW_MS = 100;
/** Milliseconds between two plain lines elsewhere. */
const PLAIN_LINE_MS = 10_000;
const BAR_WIDTH = 20;
const DEFAULT_COLUMNS = 80;

const CLEAR_LINE = '\r\u001b[2K';
const CLEAR_LINE_ABOVE = '\u001b[1A\u001b[2K';
const COLOURS = { red: 31, yellow: 33, cyan: 36, grey: 90 } as const;

/** Whether to write colours. As in Node itself FORCE_COLOR comes first, then NO_COLOR, then the kind of stream. */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTTY: boolean): boolean {
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== '0' && force !== 'false';
  if (env.NO_COLOR) return false;
  return isTTY && env.TERM !== 'dumb';
}

/** Lines of text with a passing status below them, of one line or several. */
export class Terminal {
  readonly #stream: TextStream;
  readonly #colour: boolean;
  #status = '';

  constructor(stream: TextStream, { colour = false } = {}) {
    this.#stream = stream;
    this.#colour = colour;
  }

  /** Whether a status line can be drawn in place. */
  get isInteractive(): boolean {
    return this.#stream.isTTY === true;
  }

  /** Characters in a line. */
  get columns(): number {
    return this.#stream.columns ?? DEFAULT_COLUMNS;
  }

  /** Text in a colour, where colours are wanted. */
  paint(text: string, colour: keyof typeof COLOURS): string {
    return this.#colour ? `\u001b[${COLOURS[colour]}m${text}\u001b[39m` : text;
  }

  /** Writes a line that stays, above the status line. */
  printLine(text: string): void {
    const status = this.#status;
    this.clearStatus();
    this.#stream.write(`${text}\n`);
    if (status) this.showStatus(status);
  }

  /** Draws the status, in place of the one before. No line of it may be as wide as the terminal. */
  showStatus(text: string): void {
    this.#stream.write(`${this.#clearing}${text}`);
    this.#status = text;
  }

  /** Takes the status away. */
  clearStatus(): void {
    if (this.#status) this.#stream.write(this.#clearing);
    this.#status = '';
  }

  /** What clears the status: its last line, where the cursor is, and those above it. */
  get #clearing(): string {
    return CLEAR_LINE + CLEAR_LINE_ABOVE.repeat(this.#status.split('\n').length - 1);
  }
}

/** A logger that writes lines for people. Verbosity is asked at every line: options are read after it is made. */
export function terminalLogger(terminal: Terminal, verbosity: () => Verbosity): Logger {
  const say = (label: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const details = Object.entries(fields).map(([name, value]) => terminal.paint(` ${name}=${show(value)}`, 'grey'));
    terminal.printLine(label + message + details.join(''));
  };
  return {
    error: (message, fields) => say(terminal.paint('error: ', 'red'), message, fields),
    warn: (message, fields) => {
      if (verbosity() !== 'quiet') say(terminal.paint('warning: ', 'yellow'), message, fields);
    },
    info: (message, fields) => {
      if (verbosity() !== 'quiet') say('', message, fields);
    },
    debug: (message, fields) => {
      if (verbosity() === 'verbose') say(terminal.paint('debug: ', 'grey'), message, fields);
    },
  };
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
}

/** The state of one piece of work, as it is drawn. */
type Work = {
  readonly label: string;
  readonly unit: string;
  readonly total: number | undefined;
  readonly startMs: number;
  readonly startDone: number;
  readonly meter: RateMeter;
};

function rateOf(perSecond: number, { unit }: Work): string {
  return unit === 'bytes' ? `${formatBytes(Math.round(perSecond))}/s` : formatRate(perSecond);
}

/** Progress on a terminal or, where there is none, as plain lines. `clock` gives milliseconds. */
export class TerminalProgress implements Progress {
  readonly #terminal: Terminal;
  readonly #clock: () => number;
  readonly #intervalMs: number;
  #work: Work | undefined;
  #done = 0;
  #markedDone = 0;
  #meanwhile = '';
  #drawnMs = 0;

  constructor(terminal: Terminal, clock: () => number) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#intervalMs = terminal.isInteractive ? REDRAW_MS : PLAIN_LINE_MS;
  }

  /** Work begins; work that was not stopped is stopped. */
  start({ label, unit, total, done = 0 }: Parameters<Progress['start']>[0]): void {
    this.stop();
    const startMs = this.#clock();
    this.#work = { label, unit, total, startMs, startDone: done, meter: new RateMeter() };
    this.#done = done;
    this.#mark(this.#work, startMs);
    this.#meanwhile = '';
    this.#drawnMs = startMs;
    if (this.#terminal.isInteractive) this.#terminal.showStatus(this.#statusLine(this.#work));
  }

  /** `done` units are finished in all; the rate is that of units, whatever goes on meanwhile. */
  update(done: number, meanwhile = ''): void {
    this.#done = done;
    this.#meanwhile = meanwhile;
    const now = this.#clock();
    if (!this.#work || now - this.#drawnMs < this.#intervalMs) return;
    this.#drawnMs = now;
    if (done !== this.#markedDone || meanwhile === '') this.#mark(this.#work, now);
    if (this.#terminal.isInteractive) this.#terminal.showStatus(this.#statusLine(this.#work));
    else this.#terminal.printLine(`${this.#work.label}: ${this.#counts(this.#work)}`);
  }

  /** The work is over: one line stays and says what was done, how fast and how long it took; none where nothing was. */
  stop(): void {
    const work = this.#work;
    if (!work) return;
    this.#work = undefined;
    this.#terminal.clearStatus();
    if (this.#done === work.startDone && this.#done !== work.total) return;
    const seconds = (this.#clock() - work.startMs) / 1000;
    const rate = seconds > 0 ? `, ${rateOf((this.#done - work.startDone) / seconds, work)}` : '';
    this.#terminal.printLine(`${work.label}: ${this.#doneOfTotal(work)} in ${formatDuration(seconds)}${rate}`);
  }

  #mark({ meter }: Work, nowMs: number): void {
    meter.mark(nowMs, this.#done);
    this.#markedDone = this.#done;
  }

  #doneOfTotal({ total, unit }: Work): string {
    if (unit === 'bytes') return [this.#done, ...(total === undefined ? [] : [total])].map(formatBytes).join(' of ');
    const ofTotal = total === undefined ? '' : `/${formatCount(total)}`;
    return `${formatCount(this.#done)}${ofTotal} ${unit}`;
  }

  #counts(work: Work): string {
    const rate = work.meter.perSecond;
    const secondsLeft = work.total === undefined ? undefined : work.meter.secondsLeft(work.total);
    return [
      this.#doneOfTotal(work),
      rate === undefined ? '' : rateOf(rate, work),
      secondsLeft === undefined ? '' : `ETA ${formatDuration(secondsLeft)}`,
      this.#meanwhile,
    ]
      .filter((part) => part !== '')
      .join('  ');
  }

  /** Label, bar and counts; the bar and then the end of the line give way where the terminal is narrow. */
  #statusLine(work: Work): string {
    const counts = this.#counts(work);
    const columns = this.#terminal.columns - 1; // a full line would wrap and could not be taken back
    const bare = `${work.label}  ${counts}`;
    if (work.total === undefined || bare.length + BAR_WIDTH + 2 > columns) return bare.slice(0, columns);
    const share = work.total > 0 ? Math.min(1, this.#done / work.total) : 1;
    const filled = Math.round(share * BAR_WIDTH);
    const bar = this.#terminal.paint('█'.repeat(filled), 'cyan') + '░'.repeat(BAR_WIDTH - filled);
    return `${work.label}  ${bar}  ${counts}`;
  }
}
