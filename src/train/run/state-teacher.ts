/** The teacher of mean states: a dense encoder whose vectors of documents are learned. A text is encoded once in a run. */
import { assert, ConfigError, forSetting, type Logger } from '../../core/index.ts';
import { matrixFromRows } from '../../losses/index.ts';
import type { Role } from '../../model/index.ts';
import { type DenseVectors, openScorer, type Scorer } from '../../teach/index.ts';
import type { TrainingBatch } from '../batches/training-batch.ts';
import { teacherOf } from '../config.ts';
import type { StatesConfig } from '../states-config.ts';

/** What it is opened with. */
export type StateTeacherOptions = {
  /** Folder in which it remembers what it has encoded, unless the configuration names one; nothing is kept where left out. */
  readonly folder?: string | undefined;
  /** Folder of what teachers have encoded for others; it is only read. */
  readonly knownFolder?: string | undefined;
  /** H of the network that learns. */
  readonly hiddenSize: number;
  readonly logger: Logger;
};

const SETTING = ['teachers', 'models'];

/** Gives vectors. Close it when done. */
export class StateTeacher {
  readonly #scorer: Scorer;
  readonly #vectorsOf: DenseVectors;
  readonly #hiddenSize: number;

  /** Opens the teacher of a configuration. */
  static async open({ teachers, engine }: StatesConfig, options: StateTeacherOptions): Promise<StateTeacher> {
    return await forSetting(SETTING, async () => {
      const folder = options.folder && (teachers.memory ?? options.folder);
      const spec = teacherOf(teachers.models[0]);
      const scorer = await openScorer(spec, { ...options, folder, threads: engine.threads ?? undefined });
      const { denseVectorsOf } = scorer;
      if (denseVectorsOf) return new StateTeacher(scorer, denseVectorsOf, options.hiddenSize);
      await scorer.close();
      throw new ConfigError(`${scorer.name} is a sparse model: states are learned from dense vectors`, {
        hint: 'name a dense encoder, as dense:FOLDER',
      });
    });
  }

  private constructor(scorer: Scorer, vectorsOf: DenseVectors, hiddenSize: number) {
    this.#scorer = scorer;
    this.#vectorsOf = vectorsOf;
    this.#hiddenSize = hiddenSize;
  }

  /** sha256 of all that decides the vectors. */
  get identity(): string {
    return this.#scorer.identity;
  }

  /** The batch, with the vectors of its documents. */
  async teach(batch: TrainingBatch, signal: AbortSignal): Promise<TrainingBatch> {
    return { ...batch, teacherStates: matrixFromRows(await this.vectors('document', batch.documents, signal)) };
  }

  /** Vectors of texts, of the size that the network has. */
  async vectors(
    role: Role,
    texts: readonly string[],
    signal?: AbortSignal | undefined,
    onProgress?: (numEncoded: number) => void,
  ): Promise<Float32Array[]> {
    const vectors = await this.#vectorsOf(role, texts, { signal, onProgress });
    assert(vectors.length === texts.length, 'texts without vectors');
    const size = vectors[0]?.length ?? this.#hiddenSize;
    if (size === this.#hiddenSize) return vectors;
    throw new ConfigError(
      `vectors of ${this.#scorer.name} have ${size} numbers, states of the base model ${this.#hiddenSize}`,
      { hint: 'name a teacher of the same width', setting: SETTING },
    );
  }

  /** Ends the engine and closes the memory. */
  close(): Promise<void> {
    return this.#scorer.close();
  }
}
