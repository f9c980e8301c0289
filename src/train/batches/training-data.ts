/**
 * Training data: checked as a whole before the first step, then batches without end in an order that the seed decides.
 *
 * Memory does not grow with the files: a window of lines (data.shuffleBuffer) and runs of counts are held for each source.
 * Only where lines hold ids, all texts of the collection are.
 */
import {
  assert,
  forSetting,
  InterruptedError,
  type Logger,
  type Progress,
  silentLogger,
  silentProgress,
} from '../../core/index.ts';
import {
  BadLine,
  documentsAlone,
  documentsOf,
  isBlank,
  readBytes,
  readLines,
  readTexts,
  TEXTS_OF_LINES,
  type Texts,
} from '../../data/index.ts';
import { matrixFromRows } from '../../losses/index.ts';
import { BadLines, countSamples } from './count-samples.ts';
import type { Sample, SampleShape } from './example.ts';
import { KnownFiles } from './known-files.ts';
import { PairVariety } from './pair-variety.ts';
import { type CountedSource, mixedSamples } from './sample-stream.ts';
import type { TrainingBatch } from './training-batch.ts';
import { checkFormat, type DataConfig, filesOf, findSource, type SourceFiles, sourcesOf } from './training-source.ts';

/** What a source gives. */
export type SourceReport = {
  /** As the configuration names it. */
  readonly path: string;
  /** Lines that are used. */
  readonly numExamples: number;
  /** Samples of these lines: what one pass over the source gives. */
  readonly numSamples: number;
  /** Lines that are left out. */
  readonly numBad: number;
  /** Whether every line that is used has scores of its own. */
  readonly isScored: boolean;
};

/** What a batch takes of the lines: queries with G documents each, or documents by themselves, whatever was asked for them. */
export type BatchTaken = SampleShape | 'documents';

/** How to open training data. */
export type TrainingDataOptions = {
  readonly takes: BatchTaken;
  /** Q, queries of a batch, or documents by themselves. */
  readonly batchSize: number;
  readonly seed: number;
  /** Where relative paths begin; without it, where the process is. */
  readonly folder?: string | undefined;
  /** Hears of bad lines that are left out. */
  readonly logger?: Logger | undefined;
  readonly progress?: Progress | undefined;
  /** Stops opening and reading with an InterruptedError. */
  readonly signal?: AbortSignal | undefined;
};

type OpenSource = CountedSource & { readonly report: SourceReport };

/** Batches for training. */
export class TrainingData {
  /** What there is, source by source. */
  readonly sources: readonly SourceReport[];
  /** What tells this data from what it becomes when somebody changes a file, as of opening. */
  readonly files: KnownFiles;
  readonly #sources: readonly OpenSource[];
  readonly #config: DataConfig;
  readonly #options: TrainingDataOptions;

  /** Reads all data once. What cannot be trained on is an InputError or ConfigError that says where. */
  static async open(config: DataConfig, options: TrainingDataOptions): Promise<TrainingData> {
    const configs = sourcesOf(config);
    const { takes } = options;
    if (takes !== 'documents') for (const source of configs) checkFormat(source, takes.docsPerQuery);
    const found = await Promise.all(configs.map((source) => findSource(source, options.folder)));
    const files = await KnownFiles.of((await Promise.all(found.map(filesOf))).flat(), options.signal); // before reading: who changes a file now is found out at the next resume
    const bad = new BadLines(config.maxBadLines, options.logger ?? silentLogger);
    const sources: OpenSource[] = [];
    const known: KnownTexts = new Map();
    const pairs = new PairVariety();
    for (const files of found) sources.push(await openSource(files, { ...shapeOf(takes), bad, pairs, known, options }));
    if (takes !== 'documents' && takes.docsPerQuery === 1) pairs.require();
    return new TrainingData(config, options, { sources, files });
  }

  private constructor(
    config: DataConfig,
    options: TrainingDataOptions,
    { sources, files }: { readonly sources: readonly OpenSource[]; readonly files: KnownFiles },
  ) {
    this.sources = sources.map(({ report }) => report);
    this.files = files;
    this.#sources = sources;
    this.#config = config;
    this.#options = options;
  }

  /**
   * The batch of step `fromStep`, that of the next step, and so on without end. A function of files, configuration and
   * seed: whoever begins at a later step sees the same batches. Steps before are passed over without parsing.
   */
  async *batches(fromStep: number): AsyncGenerator<TrainingBatch> {
    assert(Number.isSafeInteger(fromStep) && fromStep >= 0, `batches from step ${fromStep}`);
    const { batchSize, takes, seed, signal } = this.#options;
    const order = { ...shapeOf(takes), seed, signal, shuffleBuffer: this.#config.shuffleBuffer };
    let samples: Sample[] = [];
    for await (const sample of mixedSamples(this.#sources, fromStep * batchSize, order)) {
      samples.push(sample);
      if (samples.length < batchSize) continue;
      yield batchOf(samples);
      samples = [];
    }
  }

  /** Every document, once for each line that it stands in, in the order of the files. */
  async *documents(): AsyncGenerator<string> {
    for (const source of this.#sources) yield* documentsOfSource(source, this.#options.signal);
  }
}

/** A document by itself is a sample of one. */
function shapeOf(takes: BatchTaken): SampleShape {
  return takes === 'documents' ? { docsPerQuery: 1, wantsScores: false } : takes;
}

/** Texts of collections, by what they are read from: sources may share one. */
type KnownTexts = Map<string, Texts>;

type Opening = SampleShape & {
  readonly bad: BadLines;
  readonly pairs: PairVariety;
  readonly known: KnownTexts;
  readonly options: TrainingDataOptions;
};

async function openSource(files: SourceFiles, { options, known, ...wanted }: Opening): Promise<OpenSource> {
  const { path, file, weight, texts, mendEncoding, textsFrom, settingOf } = files;
  const { signal, progress = silentProgress } = options;
  const key = JSON.stringify([texts, mendEncoding]);
  const itsTexts = known.get(key) ?? (await forSetting(settingOf(textsFrom), () => textsOf(files, progress, signal)));
  known.set(key, itsTexts);
  const parser = options.takes === 'documents' ? documentsAlone(files.parser) : files.parser;
  const parse = parser(itsTexts);
  const { counts, ...rest } = await forSetting(settingOf('path'), () =>
    countSamples(file, { ...wanted, parse, progress, signal }),
  );
  const { numExamples, numSamples } = counts;
  return { file, parse, weight, counts, report: { path, numExamples, numSamples, ...rest } };
}

async function textsOf(files: SourceFiles, progress: Progress, signal: AbortSignal | undefined): Promise<Texts> {
  const { texts, mendEncoding } = files;
  if (texts === undefined) return TEXTS_OF_LINES;
  progress.start({ label: `reading texts of ${texts.documents}`, unit: 'documents' });
  try {
    return await readTexts(texts, { mendEncoding, signal, onDocuments: (numDocs) => progress.update(numDocs) });
  } finally {
    progress.stop();
  }
}

async function* documentsOfSource(source: CountedSource, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const counts = source.counts[Symbol.iterator]();
  for await (const lines of readLines(readBytes(source.file, { signal }))) {
    for (const { text, number } of lines) {
      if (signal?.aborted) throw new InterruptedError();
      const isUsed = (counts.next().value ?? 0) > 0;
      if (!isUsed || text instanceof BadLine || isBlank(text)) continue;
      const example = source.parse(text, number);
      if (example !== undefined && !(example instanceof BadLine)) yield* documentsOf(example);
    }
  }
}

function batchOf(samples: readonly Sample[]): TrainingBatch {
  const scores = samples.flatMap(({ scores }) => (scores ? [scores] : []));
  const queries = samples.flatMap(({ query }) => query ?? []);
  const more = new Set(samples.flatMap(({ moreQueries = [] }) => moreQueries));
  return {
    queries,
    moreQueries: [...more].filter((query) => !queries.includes(query)),
    documents: samples.flatMap(({ docs }) => docs),
    teacher: scores.length === samples.length ? matrixFromRows(scores) : undefined, // [Q, G]
  };
}
