/**
 * The pass before training: reads every line once, names bad ones, and notes how many samples each gives. Keeps no text.
 */
import { InputError, InterruptedError, type Logger, type Progress } from '../../core/index.ts';
import { BadLine, isBlank, type Line, type ParseExample, readBytes, readLines } from '../../data/index.ts';
import { hasScores, misfitOf, numSamples, type SampleShape } from './example.ts';
import type { PairVariety } from './pair-variety.ts';
import { SampleCounts } from './sample-counts.ts';

/** Bad lines of all sources together, against how many there may be. */
export class BadLines {
  readonly #max: number;
  readonly #logger: Logger;
  #count = 0;

  /** @param max lines that may be bad; each is named to `logger` */
  constructor(max: number, logger: Logger) {
    this.#max = max;
    this.#logger = logger;
  }

  /** Names a bad line. One too many is an InputError. */
  add(file: string, line: number, { message, hint }: BadLine): void {
    this.#count++;
    const problem = `${file}:${line}: ${message}`;
    if (this.#count <= this.#max) this.#logger.warn(`${problem}; the line is left out`, { file, line });
    else if (this.#max === 0)
      throw new InputError(problem, {
        hint:
          hint ??
          'mend the line or the setting that it does not fit, or allow for lines that are left out: data.maxBadLines',
      });
    else
      throw new InputError(`${problem}; this is bad line ${this.#count}, and data.maxBadLines is ${this.#max}`, {
        hint: hint ?? 'mend the lines that were named, or allow for more',
      });
  }
}

/** What the pass looks for and whom it tells. */
export type CountOptions = SampleShape & {
  readonly parse: ParseExample;
  readonly bad: BadLines;
  readonly pairs: PairVariety;
  readonly progress: Progress;
  readonly signal: AbortSignal | undefined;
};

/** What a file gives. */
export type CountedFile = {
  readonly counts: SampleCounts;
  readonly numBad: number;
  /** Whether every line that gives samples has scores of its own. */
  readonly isScored: boolean;
};

/** Reads a file once. A file that gives no sample is an InputError. */
export async function countSamples(file: string, options: CountOptions): Promise<CountedFile> {
  const counts = new SampleCounts();
  let [numLines, numBad, isScored] = [0, 0, true];
  const onUnscored = (): void => {
    isScored = false;
  };
  const lineOptions = { ...options, onUnscored };
  options.progress.start({ label: `checking ${file}`, unit: 'lines' });
  try {
    for await (const lines of readLines(readBytes(file, { signal: options.signal }))) {
      for (const line of lines) {
        if (options.signal?.aborted) throw new InterruptedError();
        const found = samplesOf(line, lineOptions);
        counts.add(found instanceof BadLine ? 0 : found);
        if (found instanceof BadLine) {
          options.bad.add(file, line.number, found);
          numBad++;
        }
      }
      numLines += lines.length;
      options.progress.update(numLines);
    }
  } finally {
    options.progress.stop();
  }
  if (counts.numSamples === 0) throw nothingIn(file, numBad);
  return { counts, numBad, isScored };
}

type LineOptions = CountOptions & { readonly onUnscored: () => void };

function samplesOf({ text, number }: Line, { parse, pairs, onUnscored, ...shape }: LineOptions): number | BadLine {
  if (text instanceof BadLine) return text;
  if (isBlank(text)) return 0;
  const example = parse(text, number);
  if (example === undefined || example instanceof BadLine) return example ?? 0;
  const misfit = misfitOf(example, shape);
  if (misfit !== undefined) return misfit;
  pairs.add(example);
  if (!hasScores(example)) onUnscored();
  return numSamples(example, shape.docsPerQuery);
}

function nothingIn(file: string, numBad: number): InputError {
  const instead = numBad === 0 ? '' : `, but ${numBad} bad line${numBad === 1 ? '' : 's'}`;
  return new InputError(`${file} has no training examples${instead}`, { hint: 'check the path and data.format' });
}
