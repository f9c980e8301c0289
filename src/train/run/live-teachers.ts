/**
 * Teachers that score each batch when its step comes: what data without scores can be distilled from. In-batch scores are
 * those of every document of the batch for every query, as `BiEncoderWrapper.get_scores_batch` of
 * zhichao-aws/opensearch-sparse-model-tuning-sample (5034368e) computes them with `use_in_batch_negatives`. A text is
 * encoded once in a run; its vector depends on nothing but the text, so a run that goes on has the same numbers.
 */
import { createHash } from 'node:crypto';
import { assert, ConfigError, forSetting, type Logger } from '../../core/index.ts';
import { matrixFromRows } from '../../losses/index.ts';
import { openScorer, type Scorer, scoreLists, type Teaching } from '../../teach/index.ts';
import type { Vocabulary } from '../../text/index.ts';
import type { TrainingBatch } from '../batches/training-batch.ts';
import type { SourceReport } from '../batches/training-data.ts';
import { type TrainConfig, teachersOf } from '../config.ts';

/** What teachers are opened with. */
export type LiveTeacherOptions = {
  /** Folder in which they remember what they have encoded, unless the configuration names one; nothing is kept where left out. */
  readonly folder?: string | undefined;
  /** Folder of what teachers have encoded for others; it is only read. */
  readonly knownFolder?: string | undefined;
  /** Of the model that is trained: vectors of a teacher must be over the same terms. */
  readonly vocabulary: Vocabulary;
  readonly logger: Logger;
};

/** Gives batches what a teacher says of them. Close it when done. */
export class LiveTeachers {
  /** sha256 of all that decides the scores. */
  readonly identity: string;
  readonly #teaching: Teaching;
  readonly #wants: Wants;
  readonly #docsPerQuery: number;

  /** Opens the teachers of a configuration; undefined where it has none. */
  static async open(config: TrainConfig, options: LiveTeacherOptions): Promise<LiveTeachers | undefined> {
    const { teachers: settings } = config;
    if (!settings) return undefined;
    return await forSetting(['teachers', 'models'], async () => {
      const scorers: Scorer[] = [];
      try {
        const folder = options.folder && (settings.memory ?? options.folder);
        const threads = config.engine.threads ?? undefined;
        for (const spec of teachersOf(config)) scorers.push(await openScorer(spec, { ...options, folder, threads }));
        if (wantsOf(config).vectors) checkVectors(scorers, options.vocabulary);
        return new LiveTeachers(config, { teachers: scorers, ensemble: settings });
      } catch (error) {
        await Promise.allSettled(scorers.map((scorer) => scorer.close())); // the first failure is the one to report
        throw error;
      }
    });
  }

  private constructor(config: TrainConfig, teaching: Teaching) {
    this.#teaching = teaching;
    this.#wants = wantsOf(config);
    this.#docsPerQuery = config.data.docsPerQuery;
    const identities = teaching.teachers.map(({ identity }) => identity);
    this.identity = createHash('sha256').update(identities.join()).digest('hex');
  }

  /** The batch, with what the losses want to know of it and its lines do not say: scores that they bring are kept. */
  async teach(batch: TrainingBatch, signal: AbortSignal): Promise<TrainingBatch> {
    const { queries, moreQueries = [], documents } = batch;
    const G = this.#docsPerQuery;
    const own = queries.map((query, n) => ({ query, docs: documents.slice(n * G, (n + 1) * G) }));
    const all = [...queries, ...moreQueries].map((query) => ({ query, docs: documents }));
    const score = async (lists: typeof all) => matrixFromRows(await scoreLists(lists, this.#teaching, { signal }));
    const { ownScores, batchScores, vectors } = this.#wants;
    return {
      ...batch,
      teacher: batch.teacher ?? (ownScores ? await score(own) : undefined),
      batchTeacher: batchScores ? await score(all) : undefined,
      teacherVectors: vectors ? await this.#vectors(documents, signal) : undefined,
    };
  }

  /** Ends the engines of all teachers. */
  async close(): Promise<void> {
    await Promise.all(this.#teaching.teachers.map((teacher) => teacher.close()));
  }

  async #vectors(documents: readonly string[], signal: AbortSignal) {
    const [sparse] = this.#teaching.teachers.filter(({ vectorsOf }) => vectorsOf);
    assert(sparse?.vectorsOf !== undefined, 'no sparse teacher');
    return await sparse.vectorsOf(documents, { signal });
  }
}

/** Teachers whom no loss asks for anything, because all lines bring their scores, are a mistake. */
export function refuseIdleTeachers(config: TrainConfig, sources: readonly Pick<SourceReport, 'isScored'>[]): void {
  const { batchScores, vectors } = wantsOf(config);
  if (!config.teachers || batchScores || vectors || !sources.every(({ isScored }) => isScored)) return;
  throw new ConfigError('teachers have no effect: every line of the data brings scores, and these come first', {
    hint: 'leave teachers out, take the scores out of the lines, or write inBatchNegatives: true for kl',
    setting: ['teachers'],
  });
}

/** What the losses of a run want of teachers. */
type Wants = { readonly ownScores: boolean; readonly batchScores: boolean; readonly vectors: boolean };

function wantsOf({ rank }: TrainConfig): Wants {
  const terms = [rank].flat();
  return {
    ownScores: terms.some(
      ({ loss, inBatchNegatives }) => loss === 'margin-mse' || (loss === 'kl' && !inBatchNegatives),
    ),
    batchScores: terms.some(({ loss, inBatchNegatives }) => loss === 'kl' && inBatchNegatives),
    vectors: terms.some(({ loss }) => loss === 'term-mse'),
  };
}

/** term-mse needs one sparse teacher, over the terms of the model that is trained. */
function checkVectors(scorers: readonly Scorer[], vocabulary: Vocabulary): void {
  const sparse = scorers.filter(({ vectorsOf }) => vectorsOf);
  if (sparse.length !== 1)
    throw new ConfigError(`term-mse learns from the vectors of one sparse teacher, there are ${sparse.length}`, {
      hint: 'name one sparse model under teachers.models; dense ones may stand beside it',
    });
  const [{ name, vocabulary: other }] = sparse;
  if (other && !other.equals(vocabulary))
    throw new ConfigError(`${name} has another vocabulary than the model that is trained`, {
      hint: 'term-mse compares weights term by term: take a teacher with the same tokenizer',
    });
}
