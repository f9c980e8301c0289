/**
 * What can be searched, by name: the indexes that were given at the start, and `rrf:A+B`, several of them joined by
 * reciprocal rank fusion. A name from a request is looked up here and goes nowhere else, so it cannot name a file.
 */
import { UsageError } from '../core/index.ts';
import { type Engine, hybridEngine, type Index } from '../engines/index.ts';
import { badRequest, notFound, RequestError } from './request-error.ts';
import type { ServedIndex } from './served-index.ts';

const FUSED = 'rrf:';
/** Each is searched a thousand deep. */
const MAX_FUSED = 4;

/** The indexes of a server. */
export class Catalogue {
  readonly indexes: readonly ServedIndex[];
  readonly #byName: ReadonlyMap<string, ServedIndex>;

  constructor(indexes: readonly ServedIndex[]) {
    this.#byName = new Map(indexes.map((served) => [served.name, served]));
    if (indexes.length === 0) throw new UsageError('a server needs at least one index');
    if (this.#byName.size < indexes.length)
      throw new UsageError('two indexes have the same name', { hint: 'give one another name: NAME=DIR' });
    this.indexes = indexes;
  }

  /** An index; the only one where no name is given. */
  find(name: string | undefined): ServedIndex {
    if (name === undefined && this.indexes.length === 1) return this.indexes[0];
    if (name === undefined) throw badRequest('there are several indexes: name one', this.#hint);
    const served = this.#byName.get(name);
    if (served) return served;
    throw notFound(`there is no index ${JSON.stringify(name.slice(0, 100))}`, this.#hint);
  }

  /** The same, to be changed. */
  findWritable(name: string | undefined): ServedIndex {
    const served = this.find(name);
    if (served.isWritable) return served;
    throw new RequestError(
      403,
      { code: 'READ_ONLY', message: `the index ${served.name} is served read-only` },
      { hint: 'start the server with --write' },
    );
  }

  /** Does something with an index, or with several as one. */
  async use<T>(name: string | undefined, work: (engine: Engine) => Promise<T>): Promise<T> {
    if (!name?.startsWith(FUSED)) return await this.find(name).use(work);
    const names = name.slice(FUSED.length).split('+');
    if (names.length < 2 || names.length > MAX_FUSED || new Set(names).size < names.length)
      throw badRequest(`expected rrf:A+B, ${MAX_FUSED} different indexes at most`, this.#hint);
    const joined = names.map((one) => this.find(one));
    return await useAll(joined, (engines) => work(hybridEngine(engines)));
  }

  /** Names by folder, for messages. Longer paths first, so that none is replaced by halves. */
  get namesByFolder(): ReadonlyMap<string, string> {
    const pairs = this.indexes.map(({ folder, name }): [string, string] => [folder, name]);
    return new Map(pairs.sort(([a], [b]) => b.length - a.length));
  }

  get #hint(): string {
    return `indexes are ${this.indexes.map(({ name }) => name).join(', ')}`;
  }
}

async function useAll<T>(
  indexes: readonly ServedIndex[],
  work: (engines: readonly Engine[]) => Promise<T>,
  used: readonly Engine[] = [],
): Promise<T> {
  const [first, ...rest] = indexes;
  if (!first) return await work(used);
  return await first.use((index) => useAll(rest, work, [...used, underName(index, first.name)]));
}

/** An engine that is called as requests call it: its own name has the folder. */
function underName(index: Index, name: string): Engine {
  return {
    name,
    add: (documents) => index.add(documents),
    delete: (ids) => index.delete(ids),
    commit: () => index.commit(),
    search: (query, options) => index.search(query, options),
    explain: (query, id, options) => index.explain(query, id, options),
    stats: () => index.stats(),
    close: () => index.close(),
  };
}
