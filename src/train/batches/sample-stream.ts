/**
 * Samples without end: of one source, pass after pass, each in its own order; and of several sources, mixed by weight. The
 * n-th sample is a function of files, seed and n, so that a stream can begin anywhere.
 */
import { derivedSeed, InputError, InterruptedError, Random } from '../../core/index.ts';
import { BadLine, type ParseExample, readBytes, readLines } from '../../data/index.ts';
import type { Sample, SampleShape } from './example.ts';
import { misfitOf, numSamples, sampleAt } from './example.ts';
import type { SampleCounts } from './sample-counts.ts';
import { type RawSample, ShuffledPass } from './shuffled-pass.ts';

/** A source whose lines are counted. */
export type CountedSource = {
  readonly file: string;
  readonly parse: ParseExample;
  readonly counts: SampleCounts;
  /** How often a sample of this source comes, against the others. */
  readonly weight: number;
};

/** What decides the order. */
export type StreamOptions = SampleShape & {
  readonly seed: number;
  /** Lines among which the next one is chosen. */
  readonly shuffleBuffer: number;
  readonly signal?: AbortSignal | undefined;
};

/** Samples of all sources, from number `start` on. */
export async function* mixedSamples(
  sources: readonly CountedSource[],
  start: number,
  options: StreamOptions,
): AsyncGenerator<Sample> {
  const choose = chooser(sources, options.seed);
  const starts = sources.map(() => 0);
  for (let i = 0; i < start; i++) starts[choose()]++;
  const streams = sources.map((source, i) =>
    sourceSamples(source, starts[i], { ...options, seed: derivedSeed(options.seed, i) }),
  );
  try {
    for (;;) {
      const { value, done } = await streams[choose()].next();
      if (done) return;
      if (options.signal?.aborted) throw new InterruptedError(); // a file that fits in the window is not read any more
      yield value;
    }
  } finally {
    for (const stream of streams) await stream.return(undefined);
  }
}

/** Numbers of sources in the shares of their weights; every call draws the next. */
function chooser(sources: readonly CountedSource[], seed: number): () => number {
  if (sources.length === 1) return () => 0;
  const random = new Random(derivedSeed(seed, sources.length));
  let total = 0;
  const bounds = sources.map(({ weight }) => {
    total += weight;
    return total;
  });
  return () => {
    const at = random.uniform() * total;
    const chosen = bounds.findIndex((bound) => at < bound);
    return chosen < 0 ? sources.length - 1 : chosen; // the product may be rounded up to the last bound
  };
}

/** Samples of one source, pass after pass, from number `start` on. */
async function* sourceSamples(source: CountedSource, start: number, options: StreamOptions): AsyncGenerator<Sample> {
  const { numSamples: perPass } = source.counts;
  let toSkip = start % perPass;
  for (let pass = Math.floor(start / perPass); ; pass++) {
    yield* passSamples(source, pass, { ...options, toSkip });
    toSkip = 0;
  }
}

async function* passSamples(
  source: CountedSource,
  pass: number,
  options: StreamOptions & { readonly toSkip: number },
): AsyncGenerator<Sample> {
  const { file, counts } = source;
  const drawn = new ShuffledPass({
    lines: readLines(readBytes(file, { signal: options.signal })),
    counts,
    random: new Random(derivedSeed(options.seed, pass)),
    maxLines: options.shuffleBuffer,
  });
  try {
    await drawn.skip(options.toSkip);
    for (let i = options.toSkip; i < counts.numSamples; i++) {
      const raw = await drawn.next();
      if (raw === undefined) throw changed(file);
      yield parsed(raw, source, options);
    }
  } finally {
    await drawn.close();
  }
}

/** Lines were sound when they were counted. */
function parsed({ line, text, index }: RawSample, { file, parse }: CountedSource, shape: StreamOptions): Sample {
  const example = parse(text, line);
  const isSound = example !== undefined && !(example instanceof BadLine) && misfitOf(example, shape) === undefined;
  if (!isSound || index >= numSamples(example, shape.docsPerQuery)) throw changed(`${file}:${line}`);
  return sampleAt(example, shape.docsPerQuery, index);
}

function changed(place: string): InputError {
  return new InputError(`${place} is not what it was when the run began`, {
    hint: 'leave training data alone during a run; begin a new run with the new data',
  });
}
