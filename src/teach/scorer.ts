/**
 * A teacher with a memory: each text is encoded once, whatever lists it stands in and however often a job is stopped. The
 * memory is a file beside others of the cache, named after the teacher; its keys are texts.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  assert,
  InterruptedError,
  inParallel,
  LockedError,
  type Logger,
  type SparseVector,
  silentLogger,
} from '../core/index.ts';
import { RecordCache, type RecordKey, recordKey, roomForCache } from '../files/index.ts';
import { looksDense, type Role, resolveModel } from '../model/index.ts';
import type { Vocabulary } from '../text/index.ts';
import { denseTeacher } from './dense-teacher.ts';
import { sparseTeacher } from './sparse-teacher.ts';
import type { Teacher } from './teacher.ts';
import type { TeacherSpec } from './teacher-spec.ts';
import { warnOnce } from './warn-once.ts';

/** A query, and texts to score for it. */
export type TextList = { readonly query: string; readonly docs: readonly string[] };

/** Where to keep vectors, and how to run. */
export type ScorerOptions = {
  /** Folder of the memory; nothing is kept where left out. */
  readonly folder?: string | undefined;
  /** Folder of a memory that others write to: what is in it now need not be encoded again. It is only read. */
  readonly knownFolder?: string | undefined;
  /** Of the memory; as much as the free disk allows if not given, and never more. */
  readonly maxMemoryBytes?: number | undefined;
  readonly logger?: Logger | undefined;
  /** Threads that compute; as many as this process may use at once if not given. */
  readonly threads?: number | undefined;
};

/** How a piece of work is done. */
export type ScoreOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Told before the first text how many need no encoding: they are remembered, or stand there twice. */
  readonly onKnown?: ((numKnown: number) => void) | undefined;
  /** Told after each text how many are encoded anew. */
  readonly onProgress?: ((numEncoded: number) => void) | undefined;
};

/** Scores texts. Close it when done. */
export type Scorer = {
  readonly name: string;
  /** sha256 of all that decides its scores. */
  readonly identity: string;
  /** Scores of each list's documents. */
  scoreLists(lists: readonly TextList[], options?: ScoreOptions): Promise<number[][]>;
  /** A sparse teacher's terms; undefined where it is dense. */
  readonly vocabulary: Vocabulary | undefined;
  /** A sparse teacher's vectors of documents; undefined where it is dense. */
  readonly vectorsOf: ((documents: readonly string[], options?: ScoreOptions) => Promise<SparseVector[]>) | undefined;
  /** A dense teacher's vectors of texts; undefined where it is sparse. */
  readonly denseVectorsOf: DenseVectors | undefined;
  /** Encodes documents into memory; what scores a query against all of them comes back, in their order. */
  overAll(documents: readonly string[], options?: ScoreOptions): Promise<ScoreAll>;
  /** Encodes documents into memory; how alike two of them are comes back, by their places. */
  likeness(documents: readonly string[], options?: ScoreOptions): Promise<(i: number, j: number) => number>;
  /** Encodes queries into memory, for whoever asks for their scores later. */
  learnQueries(queries: readonly string[], options?: ScoreOptions): Promise<void>;
  /** Ends the engine and closes the memory. */
  close(): Promise<void>;
};

/** Vectors of texts on one side of a search. */
export type DenseVectors = (role: Role, texts: readonly string[], options?: ScoreOptions) => Promise<Float32Array[]>;

/** Scores of all documents for a query. */
export type ScoreAll = (query: string, options?: ScoreOptions) => Promise<number[]>;

/** Loads a teacher. */
export async function openScorer(spec: TeacherSpec, options: ScorerOptions = {}): Promise<Scorer> {
  const isDense =
    spec.kind === undefined ? await looksDense((await resolveModel(spec.model)).folder) : spec.kind === 'dense';
  if (isDense) {
    const dense = await TeacherScorer.open(await denseTeacher(spec, options), options);
    const denseVectorsOf: DenseVectors = (role, texts, own) => dense.vectorsOf(role, texts, own);
    return scorerOf(dense, { vocabulary: undefined, vectorsOf: undefined, denseVectorsOf });
  }
  const teacher = await sparseTeacher(spec, options);
  const sparse = await TeacherScorer.open(teacher, options);
  const vectorsOf: Scorer['vectorsOf'] = (documents, own) => sparse.vectorsOf('document', documents, own);
  return scorerOf(sparse, { vocabulary: teacher.vocabulary, vectorsOf, denseVectorsOf: undefined });
}

/** What only sparse teachers have, or only dense ones. */
type OfKind = Pick<Scorer, 'vocabulary' | 'vectorsOf' | 'denseVectorsOf'>;

function scorerOf(scorer: Omit<Scorer, keyof OfKind>, ofKind: OfKind): Scorer {
  const { name, identity } = scorer;
  return {
    name,
    identity,
    ...ofKind,
    scoreLists: (lists, options) => scorer.scoreLists(lists, options),
    overAll: (documents, options) => scorer.overAll(documents, options),
    likeness: (documents, options) => scorer.likeness(documents, options),
    learnQueries: (queries, options) => scorer.learnQueries(queries, options),
    close: () => scorer.close(),
  };
}

type ScorerParts = {
  readonly identity: string;
  readonly memory: RecordCache | undefined;
  readonly known: RecordCache | undefined;
  readonly logger: Logger;
};

class TeacherScorer<V> implements Omit<Scorer, keyof OfKind> {
  readonly name: string;
  readonly identity: string;
  readonly #teacher: Teacher<V>;
  readonly #memory: RecordCache | undefined;
  /** What others have encoded. */
  readonly #known: RecordCache | undefined;
  readonly #logger: Logger;

  static async open<V>(
    teacher: Teacher<V>,
    { folder, knownFolder, maxMemoryBytes, logger = silentLogger }: ScorerOptions,
  ): Promise<TeacherScorer<V>> {
    let known: RecordCache | undefined;
    try {
      const identity = await teacher.identity();
      known = knownFolder === undefined ? undefined : openKnown(knownFolder, identity);
      const memory = folder === undefined ? undefined : await openMemory(folder, identity, { maxMemoryBytes, logger });
      return new TeacherScorer(teacher, { identity, memory, known, logger });
    } catch (error) {
      known?.close();
      await teacher.close();
      throw error;
    }
  }

  private constructor(teacher: Teacher<V>, { identity, memory, known, logger }: ScorerParts) {
    this.name = teacher.name;
    this.identity = identity;
    this.#teacher = teacher;
    this.#memory = memory;
    this.#known = known;
    this.#logger = warnOnce(logger);
  }

  async scoreLists(lists: readonly TextList[], options: ScoreOptions = {}): Promise<number[][]> {
    const queries = await this.#vectors(
      'query',
      lists.map(({ query }) => query),
      options,
    );
    const documents = await this.#vectors(
      'document',
      lists.flatMap(({ docs }) => docs),
      options,
    );
    return lists.map(({ query, docs }) => {
      const q = vectorOf(queries, query);
      return docs.map((text) => this.#teacher.score(q, vectorOf(documents, text)));
    });
  }

  async overAll(documents: readonly string[], options: ScoreOptions = {}): Promise<ScoreAll> {
    const vectors = await this.vectorsOf('document', documents, options);
    return async (query, own = {}) => {
      const q = vectorOf(await this.#vectors('query', [query], own), query);
      return vectors.map((vector) => this.#teacher.score(q, vector));
    };
  }

  async likeness(documents: readonly string[], options: ScoreOptions = {}): Promise<(i: number, j: number) => number> {
    const vectors = await this.vectorsOf('document', documents, options);
    return (i, j) => this.#teacher.score(vectors[i], vectors[j]);
  }

  async learnQueries(queries: readonly string[], options: ScoreOptions = {}): Promise<void> {
    await this.#vectors('query', queries, options);
  }

  async vectorsOf(role: Role, texts: readonly string[], options: ScoreOptions = {}): Promise<V[]> {
    const vectors = await this.#vectors(role, texts, options);
    return texts.map((text) => vectorOf(vectors, text));
  }

  async close(): Promise<void> {
    try {
      this.#known?.close();
      this.#memory?.close();
    } finally {
      await this.#teacher.close();
    }
  }

  /** The vectors of texts: remembered, or made now. */
  async #vectors(role: Role, texts: readonly string[], options: ScoreOptions): Promise<ReadonlyMap<string, V>> {
    const { fromBytes, toBytes } = this.#teacher;
    const vectors = new Map<string, V>();
    const missing: { readonly text: string; readonly key: RecordKey }[] = [];
    for (const text of new Set(texts)) {
      const key = recordKey(`${role}\n${text}`);
      const found = this.#memory?.read(key) ?? this.#known?.read(key);
      if (found) vectors.set(text, fromBytes(found));
      else missing.push({ text, key });
    }
    options.onKnown?.(texts.length - missing.length);
    let numEncoded = 0;
    await inParallel(missing, this.#teacher.lanes, async ({ text, key }) => {
      if (options.signal?.aborted) throw new InterruptedError();
      const vector = await this.#teacher.encode(role, text, { signal: options.signal, logger: this.#logger });
      if (this.#memory) this.#remember(this.#memory, key, toBytes(vector));
      vectors.set(text, vector);
      options.onProgress?.(++numEncoded);
    });
    return vectors;
  }

  #remember(memory: RecordCache, key: RecordKey, vector: Uint8Array): void {
    const wasFull = memory.isFull;
    if (memory.append(key, vector) || wasFull) return;
    this.#logger.warn(
      `${memory.path} is full with ${memory.size} texts in ${memory.sizeBytes} bytes: ${this.name} encodes others each time that they come, which only takes time; more free disk makes it larger`,
    );
  }
}

function vectorOf<V>(vectors: ReadonlyMap<string, V>, text: string): V {
  const vector = vectors.get(text);
  assert(vector !== undefined, 'a text without a vector');
  return vector;
}

function memoryPath(folder: string, identity: string): string {
  return join(folder, `${identity.slice(0, 16)}.vectors`);
}

function openKnown(folder: string, identity: string): RecordCache | undefined {
  return RecordCache.openToRead(memoryPath(folder, identity), { kind: 'vectors', identity });
}

/** One that another job holds, or this one for another purpose, is done without: it only saves time. */
async function openMemory(
  folder: string,
  identity: string,
  { maxMemoryBytes = Number.POSITIVE_INFINITY, logger }: Pick<ScorerOptions, 'maxMemoryBytes'> & { logger: Logger },
): Promise<RecordCache | undefined> {
  await mkdir(folder, { recursive: true });
  const path = memoryPath(folder, identity);
  try {
    const maxBytes = Math.min(maxMemoryBytes, await roomForCache(path));
    return RecordCache.open(path, { kind: 'vectors', identity, maxBytes });
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    logger.warn(`${path} is in use: what this teacher encodes now is not remembered`);
    return undefined;
  }
}
