/**
 * What clicks are worth to a topic head on queries that it has not learned from: the queries are parted, and those of each part are asked
 * of a head that has learned from the other parts (adapt-topic-head.ts). Gives rankings; what they are worth is for others to say.
 */
import { evenlySpaced, InputError } from '../core/index.ts';
import { type AdaptOptions, clickedQueries } from './adapt-model.ts';
import { adaptTopicHead, type ClickedQuery, termsOf } from './adapt-topic-head.ts';
import type { ModelFolder } from './model-folder.ts';
import { chosenRows } from './pooled-matrix.ts';
import type { BertSettings } from './settings.ts';
import { openTopicHead, type TopicHead } from './topic-head.ts';
import { type ReadDocuments, readDocuments, weightsOfTerm } from './topic-weights.ts';

/** Parts of the clicks: each head learns from four fifths. */
const NUM_PARTS = 5;
/** With fewer different queries chance decides. */
const MIN_QUERIES = 20;
/** Queries that are asked at most, at equal distances: a thousand would tell little more. Where one part has as many, it alone is held out. */
const MAX_ASKED = 500;
/** Documents that a ranking has. */
const DEPTH = 10;

/** A document that was found, by its place among those that were read. */
export type FoundDocument = { readonly document: number; readonly score: number };
/** What was found for each query that was asked, the best first. */
export type HeldOutRankings = readonly (readonly FoundDocument[])[];

/** What can be tried. */
export type HeldOutOptions = Pick<AdaptOptions, 'clicks' | 'sample' | 'states' | 'signal'> & {
  /** Texts of the documents, beside their states. */
  readonly texts: readonly string[];
  /** ρ to try. */
  readonly penalties: readonly number[];
  /** Told how many penalties are tried. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** What came out: rankings by the head as it is, and by each penalty. */
export type HeldOutClicks = {
  /** The queries that were asked: documents that were opened for each. */
  readonly opened: readonly (readonly number[])[];
  /** Documents among which they were to be found: all that were opened for them, and the sample. */
  readonly numDocuments: number;
  readonly before: HeldOutRankings;
  readonly after: ReadonlyMap<number, HeldOutRankings>;
};

/** Tries penalties. With too few queries to hold any out it throws. */
export async function holdOutClicks(
  model: ModelFolder & { readonly settings: BertSettings },
  { clicks, sample, states, texts, penalties, signal, onProgress }: HeldOutOptions,
): Promise<HeldOutClicks> {
  const queries = clickedQueries(model, clicks);
  const partOf = parts(queries);
  const ofFirst = queries.filter((query) => partOf.get(query) === 0);
  const chosen = evenlySpaced(ofFirst.length >= MAX_ASKED ? ofFirst : queries, MAX_ASKED);
  const among = [...new Set([...chosen.flatMap(({ documents }) => documents), ...sample])];
  const readTexts = among.map((document) => texts[document]);
  const task: Task = {
    head: await openTopicHead(model.encoderFolder, { signal }),
    among,
    documents: readDocuments(model, readTexts, chosenRows(states, among)),
    known: new Map(),
  };
  const before = chosen.map((query) => found(query, task));
  const after = new Map<number, HeldOutRankings>();
  for (const penalty of penalties) {
    const rankings = new Map<ClickedQuery, readonly FoundDocument[]>();
    for (let part = 0; part < NUM_PARTS; part++) {
      const asked = chosen.filter((query) => partOf.get(query) === part);
      if (asked.length === 0) continue;
      signal?.throwIfAborted();
      const learned = queries.filter((query) => partOf.get(query) !== part);
      const adapted = adaptTopicHead(task.head, { queries: learned, sample, states, penalty });
      const moved = { head: adapted, terms: termsOf(learned), known: new Map<number, Float32Array>() };
      for (const query of asked) rankings.set(query, found(query, task, moved));
      await new Promise((done) => setImmediate(done)); // so that Ctrl-C is heard
    }
    after.set(
      penalty,
      chosen.map((query) => rankings.get(query) ?? []),
    );
    onProgress?.(after.size);
  }
  return { opened: chosen.map(({ documents }) => documents), numDocuments: among.length, before, after };
}

/** The part of each query; queries of the same terms are in one part, since one would tell the answer to the other. */
function parts(queries: readonly ClickedQuery[]): ReadonlyMap<ClickedQuery, number> {
  const different = new Map<string, number>();
  const numberOf = (query: ClickedQuery): number => {
    const key = query.vector.terms.join();
    const number = different.get(key) ?? different.size;
    different.set(key, number);
    return number;
  };
  const partOf = new Map(queries.map((query) => [query, numberOf(query) % NUM_PARTS]));
  if (different.size >= MIN_QUERIES) return partOf;
  throw new InputError(
    `${different.size} different queries are too few to hold some out and see which penalty helps; ${MIN_QUERIES} are needed`,
    { hint: 'give a penalty, 10 to be careful, and measure the model on other queries' },
  );
}

/** A head whose vectors of some terms have moved. */
type MovedHead = {
  readonly head: TopicHead;
  readonly terms: ReadonlySet<number>;
  /** Weights that are computed already, by term. */
  readonly known: Map<number, Float32Array>;
};

type Task = {
  readonly head: TopicHead;
  /** Places of the documents, beside `documents`. */
  readonly among: readonly number[];
  readonly documents: ReadDocuments;
  readonly known: Map<number, Float32Array>;
};

function found({ vector }: ClickedQuery, task: Task, moved?: MovedHead): FoundDocument[] {
  const { among, documents } = task;
  const scores = new Float64Array(among.length);
  vector.terms.forEach((term, i) => {
    const { head, known } = moved?.terms.has(term) ? moved : task;
    const weights = known.get(term) ?? weightsOfTerm(head, term, documents);
    known.set(term, weights);
    for (let d = 0; d < scores.length; d++) scores[d] += vector.weights[i] * weights[d];
  });
  const hits = Array.from(scores.keys()).filter((d) => scores[d] > 0);
  const best = hits.sort((a, b) => scores[b] - scores[a]).slice(0, DEPTH);
  return best.map((d) => ({ document: among[d], score: scores[d] }));
}
