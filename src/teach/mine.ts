/**
 * Hard negatives: documents that a search finds for a query and that do not answer it.
 *
 *     candidates of a system, best first ─ without answers ─ after `skip` ─ those that the teacher finds clearly worse
 *     than the answers ─ the first of them, and some drawn from all documents
 *
 * A document that the teacher scores like an answer is likely to be one that nobody has judged, also where it is drawn:
 *
 *     kept where  t(q, d) ≤ a − margin  and  t(q, d) ≤ a − r·|a|          a = mean of t(q, ·) over the answers
 *
 * Xiong et al., ANCE, ICLR 2021, https://arxiv.org/abs/2007.00808, train on what is found; Qu et al., RocketQA, NAACL
 * 2021, https://arxiv.org/abs/2010.08191, filter by a teacher; de Souza P. Moreira et al., NV-Retriever, 2024,
 * https://arxiv.org/abs/2407.15831, compare margins (their TopK-PercPos is r). What is drawn depends on the seed and the
 * query's number alone.
 */
import { assert, derivedSeed, InputError, InterruptedError, Random } from '../core/index.ts';
import { type Hit, type Query, rankHits } from '../data/index.ts';
import { countOn } from './count-on.ts';
import type { DocumentPool } from './document-pool.ts';
import type { ScoreOptions, Scorer } from './scorer.ts';

/** A query to mine for. */
export type MiningQuery = Pick<Query, 'id' | 'text'> & {
  /** Ids of the documents that answer it; none where nobody knows. */
  readonly positives: readonly string[];
  /** The answers' texts, where they are not the documents' own: a query made of a document's words leaves them out. */
  readonly positiveTexts?: readonly string[] | undefined;
};

/** Finds candidates, one answer for each query in the order of the queries. */
export type FindCandidates = (
  queries: readonly Query[],
  options: { readonly k: number; readonly signal?: AbortSignal | undefined },
) => AsyncIterable<{ readonly queryId: string; readonly hits: readonly Hit[] }>;

/** What is taken. */
export type MiningOptions = {
  /** Candidates that are looked at. */
  readonly depth: number;
  /** Documents that are wanted for each query. */
  readonly negatives: number;
  /** Candidates that are passed over, best first. */
  readonly skip: number;
  /** Share of the negatives that is drawn from all documents. */
  readonly randomShare: number;
  /** What the teacher must find between an answer and a negative. */
  readonly margin: number;
  /** r, of the answers' score. */
  readonly relativeMargin: number;
  /** Queries whose best answer the teacher ranks below this place among the candidates are left out. */
  readonly agreement: number;
  readonly seed: number;
};

/** What is usual. */
export const MINING_DEFAULTS: MiningOptions = {
  depth: 100,
  negatives: 8,
  skip: 0,
  randomShare: 0,
  margin: 0,
  relativeMargin: 0.05,
  agreement: Number.POSITIVE_INFINITY,
  seed: 42,
};

/** A query with what was found for it. */
export type MinedQuery = MiningQuery & {
  /** Ids: the hard ones first, best first. */
  readonly negatives: readonly string[];
  /** Drawn. */
  readonly numRandom: number;
  /** Those among them that stand in for candidates that are missing: more than the random share. */
  readonly numFilled: number;
  /** Candidates that the teacher takes for answers. */
  readonly numFiltered: number;
  /** Candidates that are no documents of the pool. */
  readonly numUnknown: number;
  /** Why the query is not for training; undefined where it is. */
  readonly dropped: DropReason | undefined;
};

/** The teacher does not find the query's own answer, or there are no two documents to tell apart. */
export type DropReason = 'answer-not-found' | 'too-few-found';

/** What is mined with. */
export type MiningParts = {
  readonly pool: DocumentPool;
  readonly candidates: FindCandidates;
  /** Without one, nothing is filtered. */
  readonly teacher?: Scorer | undefined;
  readonly options?: Partial<MiningOptions> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told after each text how many the teacher has encoded anew, in all. */
  readonly onProgress?: ScoreOptions['onProgress'];
};

/** Queries that are searched and scored together: what a stop may cost. */
const WINDOW = 32;
/** Documents of a list, and of a query's answer with its negatives: a loss learns from differences. */
const MIN_LIST = 2;

/**
 * Mines for queries, in their order. Candidates of which most are unknown come from something else than the documents of
 * the pool, and are an InputError.
 *
 * @param first number of the first query: what is drawn at random depends on it
 */
export async function* mine(
  queries: readonly MiningQuery[],
  parts: MiningParts,
  first = 0,
): AsyncGenerator<MinedQuery> {
  const options = { ...MINING_DEFAULTS, ...parts.options };
  const known = new KnownShare();
  const onProgress = countOn(parts.onProgress);
  for (let begin = 0; begin < queries.length; begin += WINDOW) {
    if (parts.signal?.aborted) throw new InterruptedError();
    const window = queries.slice(begin, begin + WINDOW);
    const found = await lookUp(window, parts, options);
    known.check(found);
    const scored = await teacherScores(found, parts, onProgress);
    const chosen = found.map((each, i) =>
      choose(each, { pool: parts.pool, options, scores: scored?.[i], number: first + begin + i }),
    );
    await fillUp(chosen, parts, onProgress);
    for (const each of chosen) yield minedOf(each);
  }
}

type Found = {
  readonly query: MiningQuery;
  /** All that was found. */
  readonly seen: readonly string[];
  /** Those among them that the pool has not. */
  readonly unknown: readonly string[];
  /** Those among them that are no answers, best first. */
  readonly candidates: readonly string[];
};

async function lookUp(
  window: readonly MiningQuery[],
  { pool, candidates, signal }: MiningParts,
  { depth }: MiningOptions,
): Promise<Found[]> {
  const found: Found[] = [];
  const k = depth + Math.max(0, ...window.map(({ positives }) => positives.length));
  for await (const { queryId, hits } of candidates(window, { k, signal })) {
    const query = window[found.length];
    assert(queryId === query?.id, `a system answered ${queryId} where ${query?.id} was asked`);
    const own = rankHits(hits).slice(0, depth + query.positives.length); // whatever its neighbours asked for
    const others = withoutAnswers(own, query, pool).slice(0, depth);
    const seen = own.map(({ id }) => id);
    found.push({ query, seen, unknown: seen.filter((id) => !pool.has(id)), candidates: others });
  }
  assert(found.length === window.length, `a system answered ${found.length} of ${window.length} queries`);
  return found;
}

/** How many candidates there were, and how many of them the pool has not. */
class KnownShare {
  #numSeen = 0;
  #numUnknown = 0;

  /** Counts; an InputError as soon as most are unknown. */
  check(found: readonly Found[]): void {
    for (const { seen, unknown } of found) {
      this.#numSeen += seen.length;
      this.#numUnknown += unknown.length;
    }
    if (2 * this.#numUnknown <= this.#numSeen) return;
    const example = JSON.stringify(found.flatMap(({ unknown }) => unknown)[0]);
    throw new InputError(
      `${this.#numUnknown} of ${this.#numSeen} candidates are no documents of the input, such as ${example}`,
      {
        hint: 'search the documents that are mined; pages are mined in pieces, which an index or a run of whole pages does not know: name a model or bm25',
      },
    );
  }
}

/** Ids of the hits that are no answers, nor copies of one, nor of each other: collections hold texts twice. */
function withoutAnswers(hits: readonly Hit[], { positives }: MiningQuery, pool: DocumentPool): string[] {
  const seen = new Set(positives.map((id) => pool.textOf(id)));
  const answers = new Set(positives);
  return hits.flatMap(({ id }) => {
    if (answers.has(id) || !pool.has(id) || seen.has(pool.textOf(id))) return [];
    seen.add(pool.textOf(id));
    return [id];
  });
}

/** Scores of answers, then of candidates. */
async function teacherScores(
  found: readonly Found[],
  { teacher, pool, signal }: MiningParts,
  onProgress: ScoreOptions['onProgress'],
): Promise<number[][] | undefined> {
  const lists = found.map(({ query, candidates }) => ({
    query: query.text,
    docs: [...answersOf(query, pool), ...candidates.map((id) => pool.textOf(id))],
  }));
  return await teacher?.scoreLists(lists, { signal, onProgress });
}

/** The texts of a query's answers. */
export function answersOf({ positives, positiveTexts }: MiningQuery, pool: DocumentPool): readonly string[] {
  return positiveTexts ?? positives.map((id) => pool.textOf(id));
}

type Choice = {
  readonly pool: DocumentPool;
  readonly options: MiningOptions;
  readonly scores: readonly number[] | undefined;
  readonly number: number;
};

/** A query with its hard negatives, and what is drawn for it so far. */
type Chosen = {
  readonly query: MiningQuery;
  readonly hard: readonly string[];
  /** Ids. */
  readonly drawn: string[];
  /** Documents to draw. */
  readonly numToDraw: number;
  /** Those among them that were asked for. */
  readonly numShare: number;
  /** The highest score of a negative. */
  readonly limit: number;
  readonly urn: Urn;
  /** Negatives without which the query teaches nothing. */
  readonly minNegatives: number;
  readonly numFiltered: number;
  readonly numUnknown: number;
  /** The teacher does not find the answer. */
  readonly isMissed: boolean;
};

function choose({ query, seen, unknown, candidates }: Found, { pool, options, scores, number }: Choice): Chosen {
  const numAnswers = answersOf(query, pool).length;
  const [answers, others] = [scores?.slice(0, numAnswers), scores?.slice(numAnswers)];
  const limit = limitOf(answers, options);
  const open = candidates.map((id, i) => ({ id, score: others?.[i] ?? Number.NEGATIVE_INFINITY })).slice(options.skip);
  const kept = open.filter(({ score }) => score <= limit).map(({ id }) => id);
  const numRandom = Math.round(options.negatives * options.randomShare);
  const hard = kept.slice(0, options.negatives - numRandom);
  const urn = {
    pool,
    excluded: new Set([...query.positives, ...seen]),
    texts: new Set(query.positives.map((id) => pool.textOf(id))),
    random: new Random(derivedSeed(options.seed, number)),
  };
  return {
    query,
    hard,
    drawn: [],
    // A list that nobody judged is what was found; negatives that are missing are drawn.
    numToDraw: query.positives.length === 0 ? numRandom : options.negatives - hard.length,
    numShare: numRandom,
    limit,
    urn,
    // Who asks for no negatives wants pairs.
    minNegatives: query.positives.length === 0 ? MIN_LIST : Math.min(MIN_LIST - 1, options.negatives),
    numFiltered: open.length - kept.length,
    numUnknown: unknown.length,
    isMissed: answers !== undefined && rankOfBest(answers, others ?? []) > options.agreement,
  };
}

function minedOf({ query, hard, drawn, numShare, isMissed, ...chosen }: Chosen): MinedQuery {
  const { minNegatives, numFiltered, numUnknown } = chosen;
  const negatives = [...hard, ...drawn];
  const isShort = negatives.length < minNegatives;
  return {
    ...query,
    negatives,
    numRandom: drawn.length,
    numFilled: Math.max(0, drawn.length - numShare),
    numFiltered,
    numUnknown,
    dropped: isMissed ? 'answer-not-found' : isShort ? 'too-few-found' : undefined,
  };
}

/** The highest score of a negative. */
function limitOf(answers: readonly number[] | undefined, { margin, relativeMargin }: MiningOptions): number {
  if (!answers || answers.length === 0) return Number.POSITIVE_INFINITY;
  const a = answers.reduce((sum, score) => sum + score, 0) / answers.length;
  return Math.min(a - margin, a - relativeMargin * Math.abs(a));
}

/** Place of the best answer among the candidates, from 1. */
function rankOfBest(answers: readonly number[], others: readonly number[]): number {
  if (answers.length === 0) return 1;
  const best = Math.max(...answers);
  return 1 + others.filter((score) => score > best).length;
}

/** Documents are drawn so often in place of those that the teacher takes for answers; then the query goes without. */
const MAX_ROUNDS = 8;

/** Draws what is missing. The teacher is asked for all queries at once; what one of them gets depends on it alone. */
async function fillUp(
  chosen: readonly Chosen[],
  { teacher, pool, signal }: MiningParts,
  onProgress: ScoreOptions['onProgress'],
): Promise<void> {
  let short = chosen;
  for (let round = 0; round < MAX_ROUNDS && short.length > 0; round++) {
    const open = short
      .map((own) => ({ own, ids: draw(own.numToDraw - own.drawn.length, own.urn) }))
      .filter(({ ids }) => ids.length > 0);
    short = open.map(({ own }) => own);
    const compared = open.filter(({ own }) => own.limit < Number.POSITIVE_INFINITY);
    const lists = compared.map(({ own, ids }) => ({ query: own.query.text, docs: ids.map((id) => pool.textOf(id)) }));
    const scored = lists.length === 0 ? [] : await teacher?.scoreLists(lists, { signal, onProgress });
    const scores = new Map(compared.map(({ own }, i) => [own, scored?.[i]]));
    for (const { own, ids } of open)
      own.drawn.push(...ids.filter((_, i) => (scores.get(own)?.[i] ?? Number.NEGATIVE_INFINITY) <= own.limit));
  }
}

type Urn = {
  readonly pool: DocumentPool;
  /** Not to be drawn: what was drawn before is, too. */
  readonly excluded: Set<string>;
  /** Of the answers: copies of them are none of the others. */
  readonly texts: ReadonlySet<string>;
  readonly random: Random;
};

/** The next document is found in so many draws, or there is none. */
const MAX_DRAWS = 1000;

/** Documents drawn from all, each once; fewer where there are hardly any more. */
function draw(count: number, { pool, excluded, texts, random }: Urn): string[] {
  const drawn: string[] = [];
  for (let numVain = 0; drawn.length < count && numVain < MAX_DRAWS; ) {
    const id = pool.idAt(random.below(pool.size));
    const isFound = !excluded.has(id) && !texts.has(pool.textOf(id));
    numVain = isFound ? 0 : numVain + 1;
    if (!isFound) continue;
    excluded.add(id);
    drawn.push(id);
  }
  return drawn;
}
