/**
 * An index that is served: goes on to commits of other processes, and to another index in its place, while requests run.
 * Each request keeps the index that it began with until it ends.
 */
import { IndexStateError, type Logger, silentLogger } from '../core/index.ts';
import type { Index } from '../engines/index.ts';

/** An open index and what was opened for it. */
export type OpenedIndex = {
  readonly index: Index;
  /** Closes the index, and the model where one was loaded for it. */
  close(): Promise<void>;
};

/** What is to be served. */
export type ServedIndexOptions = {
  /** What requests call it: letters, digits and . _ -, at most 64. */
  readonly name: string;
  /** Opens it; called again where another index has taken its place. */
  readonly open: () => Promise<OpenedIndex>;
  /** Whether requests may change it. The writer's lock is then held from the beginning on. */
  readonly isWritable?: boolean | undefined;
};

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether an index can be called so. */
export function isIndexName(name: string): boolean {
  return NAME.test(name);
}

/** An index and those who use it. */
class Held {
  readonly opened: OpenedIndex;
  #numUsers = 0;
  #isRetired = false;
  #onIdle: () => void = () => {};

  constructor(opened: OpenedIndex) {
    this.opened = opened;
  }

  async use<T>(work: (index: Index) => Promise<T>): Promise<T> {
    this.#numUsers++;
    try {
      return await work(this.opened.index);
    } finally {
      this.#numUsers--;
      if (this.#isRetired && this.#numUsers === 0) this.#onIdle();
    }
  }

  /** Closes it when the last of its users has ended. */
  async retire(): Promise<void> {
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    this.#isRetired = true;
    if (this.#numUsers > 0) await idle;
    await this.opened.close();
  }
}

/** An index under a name. Close it. */
export class ServedIndex {
  readonly name: string;
  readonly isWritable: boolean;
  readonly #open: () => Promise<OpenedIndex>;
  #held: Held;
  #refreshing: Promise<boolean> | undefined;
  #isClosed = false;

  /** Opens it. */
  static async open(options: ServedIndexOptions): Promise<ServedIndex> {
    if (!isIndexName(options.name))
      throw new IndexStateError(`${JSON.stringify(options.name)} cannot be the name of an index`, {
        hint: 'names have letters, digits and . _ -, at most 64',
      });
    return new ServedIndex(options, new Held(await opened(options)));
  }

  private constructor({ name, open, isWritable = false }: ServedIndexOptions, held: Held) {
    this.name = name;
    this.isWritable = isWritable;
    this.#open = () => opened({ name, open, isWritable });
    this.#held = held;
  }

  /** Where it is. */
  get folder(): string {
    return this.#held.opened.index.folder;
  }

  /** Does something with the index as it is now. It stays open until that has ended. */
  async use<T>(work: (index: Index) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new IndexStateError(`the index ${this.name} is closed`);
    return await this.#held.use(work);
  }

  /** Goes on to the newest commit, or to another index in its place; false where nothing has changed. */
  async refresh(): Promise<boolean> {
    this.#refreshing ??= this.#goOn().finally(() => {
      this.#refreshing = undefined;
    });
    return await this.#refreshing;
  }

  async #goOn(): Promise<boolean> {
    if (this.#isClosed) return false;
    try {
      return await this.use((index) => index.refresh());
    } catch (error) {
      if (!(error instanceof IndexStateError) || this.#isClosed) throw error;
      await this.#replace();
      return true;
    }
  }

  /** Another index, whose queries are read in another way, is opened beside the one that requests still use. */
  async #replace(): Promise<void> {
    const next = new Held(await this.#open());
    const last = this.#held;
    if (this.#isClosed) return await next.retire();
    this.#held = next;
    await last.retire();
  }

  /** Closes it after the last request. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#refreshing?.catch(() => false);
    await this.#held.retire();
  }
}

/**
 * What a killed server has acknowledged and not committed is committed now, so that the next searches find it. The first
 * search brings the postings into memory: it is made here, and nobody waits for it.
 */
async function opened({ open, isWritable = false }: ServedIndexOptions): Promise<OpenedIndex> {
  const made = await open();
  try {
    if (isWritable) await made.index.startWriting();
    await made.index.search('a', { k: 1, idsOnly: true });
    return made;
  } catch (error) {
    await made.close();
    throw error;
  }
}

/** How commits of others are looked for. */
export type WatchOptions = {
  /** Time between two looks. */
  readonly everyMs: number;
  /** Told of commits that were gone on to, and of failures. */
  readonly logger?: Logger | undefined;
};

/** Looks for commits of other processes from time to time; gives the way to stop. A failure leaves what is served. */
export function watchCommits(indexes: readonly ServedIndex[], options: WatchOptions): () => void {
  const { everyMs, logger = silentLogger } = options;
  const failures = new Map<string, string>();
  const look = async (served: ServedIndex): Promise<void> => {
    const { name } = served;
    try {
      if (await served.refresh()) logger.info('a newer commit is served', { index: name });
      failures.delete(name);
    } catch (error) {
      const message = String(error);
      if (failures.get(name) !== message) logger.error('cannot go on to the newest commit', { index: name, message });
      failures.set(name, message); // said once, not at every look
    }
  };
  const timer = setInterval(() => void Promise.all(indexes.map(look)), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
