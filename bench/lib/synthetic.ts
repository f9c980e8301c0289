/**
 * A made-up collection with the statistics of learned sparse vectors: about 285 weights a document over a vocabulary of
 * 30,522, frequencies from 60 % of the documents down to single ones, topics and subtopics so that terms come together,
 * and queries of 3 to 12 terms that cost what inference-free queries cost (Σ df / N ≈ 1.9).
 *
 *     frequent words   p(rank) ∝ 1 / (rank + 12)^1.2           a third of every document
 *     300 topics       2,500 terms each, middle ranks          a quarter, and some of a second topic
 *     12,000 subtopics 420 terms each, most of their topic's   a third, the heaviest
 *     tail             p(rank) ∝ 1 / (rank + 800)^1.1          a few
 *
 * A document's terms are ordered by importance (where the term came from, what term it is, chance), and get the weights
 * log(1 − 0.42·log q) of their quantile q: few large ones, many small ones, as a trained model has them.
 */
import { Random, type SparseVector, sparseVector } from '../../src/core/index.ts';

/** Documents one after the other, and queries for them. */
export type SyntheticCollection = {
  readonly numDocs: number;
  readonly offsets: Uint32Array;
  readonly terms: Uint16Array;
  readonly weights: Float32Array;
  readonly queries: readonly SparseVector[];
};

/** Every weight is below this. */
export const LARGEST_WEIGHT = 1.9;
const NUM_TERMS = 30_522;
const NUM_TOPICS = 300;
const SUBTOPICS = 40;
const TOPIC_TERMS = 2500;
const SUBTOPIC_TERMS = 420;
const MIN_LENGTH = 100;
const MAX_LENGTH = 520;
/** Above every term id. */
const TERM_RADIX = 2 ** 15;
/** Share of a query's terms that are frequent ones. Gives Σ df / N ≈ 1.9. */
const FREQUENT_SHARE = 0.56;

/** Draws from a table of weights in constant time (Walker's alias method). */
class Sampler {
  readonly #keep: Float64Array;
  readonly #alias: Uint32Array;

  constructor(size: number, weight: (i: number) => number) {
    const weights = Float64Array.from({ length: size }, (_, i) => weight(i));
    const total = weights.reduce((sum, w) => sum + w, 0);
    this.#keep = weights.map((w) => (w * size) / total);
    this.#alias = Uint32Array.from({ length: size }, (_, i) => i);
    const small: number[] = [];
    const large: number[] = [];
    this.#keep.forEach((share, i) => {
      (share < 1 ? small : large).push(i);
    });
    while (small.length > 0 && large.length > 0) {
      const [i, j] = [small.pop() ?? 0, large.pop() ?? 0];
      this.#alias[i] = j;
      this.#keep[j] -= 1 - this.#keep[i];
      (this.#keep[j] < 1 ? small : large).push(j);
    }
  }

  draw(random: Random): number {
    const x = (random.uint32() / 2 ** 32) * this.#keep.length;
    const i = Math.floor(x);
    return x - i < this.#keep[i] ? i : this.#alias[i];
  }
}

/** What documents are drawn from. */
type World = {
  /** Term id of each frequency rank, and back. */
  readonly termOfRank: Uint32Array;
  readonly rankOfTerm: Uint32Array;
  readonly frequent: Sampler;
  readonly tail: Sampler;
  readonly topicTerms: readonly Uint32Array[];
  readonly subtopicTerms: readonly Uint32Array[];
  readonly inTopic: Sampler;
  readonly inSubtopic: Sampler;
  readonly topics: Sampler;
  readonly subtopics: Sampler;
  /** How important a term is by itself. */
  readonly importance: Float32Array;
};

function createWorld(random: Random): World {
  const termOfRank = Uint32Array.from(random.shuffle(Array.from({ length: NUM_TERMS }, (_, i) => i)));
  const rankOfTerm = new Uint32Array(NUM_TERMS);
  termOfRank.forEach((term, rank) => {
    rankOfTerm[term] = rank;
  });
  const middle = new Sampler(NUM_TERMS, (rank) => 1 / (rank + 400));
  const tail = new Sampler(NUM_TERMS, (rank) => (rank < 800 ? 0.02 / 800 : (rank + 800) ** -1.1));
  const topicTerms = Array.from({ length: NUM_TOPICS }, () =>
    distinct(TOPIC_TERMS, () => termOfRank[middle.draw(random)]),
  );
  const subtopicTerms = Array.from({ length: NUM_TOPICS * SUBTOPICS }, (_, i) => {
    const topic = topicTerms[Math.floor(i / SUBTOPICS)];
    return distinct(SUBTOPIC_TERMS, () =>
      random.uniform() < 0.65
        ? topic[Math.floor(random.uniform() ** 1.5 * TOPIC_TERMS)]
        : termOfRank[tail.draw(random)],
    );
  });
  return {
    termOfRank,
    rankOfTerm,
    tail,
    topicTerms,
    subtopicTerms,
    frequent: new Sampler(NUM_TERMS, (rank) => (rank + 12) ** -1.2),
    inTopic: new Sampler(TOPIC_TERMS, (i) => (i + 15) ** -0.9),
    inSubtopic: new Sampler(SUBTOPIC_TERMS, (i) => (i + 12) ** -0.85),
    topics: new Sampler(NUM_TOPICS, (i) => (i + 10) ** -0.7),
    subtopics: new Sampler(SUBTOPICS, (i) => (i + 3) ** -0.8),
    importance: Float32Array.from(rankOfTerm, (rank) => 0.4 * random.normal() - (rank < 200 ? 0.8 : 0)),
  };
}

function distinct(count: number, draw: () => number): Uint32Array {
  const drawn = new Uint8Array(NUM_TERMS);
  const terms = new Uint32Array(count);
  for (let n = 0; n < count; ) {
    const term = draw();
    if (drawn[term]) continue;
    drawn[term] = 1;
    terms[n++] = term;
  }
  return terms;
}

/** key mod TERM_RADIX, without the slow remainder of floats. */
function lowDigit(key: number): number {
  return key - Math.floor(key / TERM_RADIX) * TERM_RADIX;
}

/** A document's terms, the most important first. */
type Draft = { readonly subtopic: number; readonly terms: Uint32Array };

/** Draws the terms of documents; keeps its tables from one to the next. */
class Drafter {
  readonly #world: World;
  readonly #random: Random;
  /** The last document that drew each term. */
  readonly #drawnBy = new Uint32Array(NUM_TERMS);
  /** Importance in the high digits, term in the low ones: sorts as it is. */
  readonly #keys = new Float64Array(MAX_LENGTH);
  #numDrafts = 0;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  draft(): Draft {
    const [world, random] = [this.#world, this.#random];
    this.#numDrafts++;
    const topic = world.topics.draw(random);
    const subtopic = topic * SUBTOPICS + world.subtopics.draw(random);
    const second = world.topics.draw(random);
    const wanted = Math.min(MAX_LENGTH, Math.max(MIN_LENGTH, Math.floor(285 + 60 * random.normal())));
    const frequent = 0.34 + 0.06 * random.normal();
    const ofSubtopic = frequent + 0.36 + 0.08 * random.normal();
    const ofSecond = ofSubtopic + (random.uniform() < 0.5 ? 0.12 : 0.02);
    const ofTail = ofSecond + 0.03;
    let length = 0;
    for (let tries = 0; length < wanted && tries < 20_000; tries++) {
      const x = random.uniform();
      if (x < frequent) length = this.#take(length, world.termOfRank[world.frequent.draw(random)], -0.5);
      else if (x < ofSubtopic)
        length = this.#take(length, world.subtopicTerms[subtopic][world.inSubtopic.draw(random)], 1.1);
      else if (x < ofSecond) length = this.#take(length, world.topicTerms[second][world.inTopic.draw(random)], 0.1);
      else if (x < ofTail) length = this.#take(length, world.termOfRank[world.tail.draw(random)], 0.3);
      else length = this.#take(length, world.topicTerms[topic][world.inTopic.draw(random)], 0.4);
    }
    const keys = this.#keys.subarray(0, length).sort();
    const terms = new Uint32Array(length);
    for (let i = 0; i < length; i++) terms[i] = lowDigit(keys[i]);
    return { subtopic, terms };
  }

  /** Takes a term unless the document has it; returns how many it has. */
  #take(length: number, term: number, base: number): number {
    if (this.#drawnBy[term] === this.#numDrafts) return length;
    this.#drawnBy[term] = this.#numDrafts;
    const importance = base + this.#world.importance[term] + 0.8 * this.#random.normal();
    this.#keys[length] = Math.floor((16 - importance) * 2 ** 24) * TERM_RADIX + term;
    return length + 1;
  }
}

/** Weights by importance: log(1 − 0.42·s·log q), q the quantile, s a scale of the document's own. */
function weigh(numTerms: number, random: Random): Float32Array {
  const scale = 0.42 * Math.exp(0.12 * random.normal());
  const weights = new Float32Array(numTerms);
  for (let i = 0; i < numTerms; i++) {
    const q = (i + 0.2 + 0.6 * random.uniform()) / numTerms;
    weights[i] = Math.min(LARGEST_WEIGHT, Math.log(1 - scale * Math.log(q)));
  }
  return weights;
}

/** Terms that someone who wants this document might type: important ones and frequent ones. */
function draftQuery(world: World, { subtopic, terms }: Draft, random: Random): number[] {
  const length = Math.min(12, 3 + Math.floor(random.uniform() ** 1.25 * 10));
  const frequent = [...terms].filter((term) => world.rankOfTerm[term] <= 120);
  const chosen = new Set<number>();
  for (let tries = 0; chosen.size < length && tries < 500; tries++) {
    if (random.uniform() < FREQUENT_SHARE) {
      if (frequent.length > 0) chosen.add(frequent[random.below(frequent.length)]);
    } else if (random.uniform() < 0.15) chosen.add(world.subtopicTerms[subtopic][world.inSubtopic.draw(random)]);
    else {
      const at = Math.floor(-14 * Math.log(1 - random.uniform()));
      if (at < terms.length) chosen.add(terms[at]);
    }
  }
  return [...chosen];
}

/** A collection that its size and seed determine. */
export function syntheticCollection({
  numDocs,
  numQueries,
  seed = 1,
}: {
  readonly numDocs: number;
  readonly numQueries: number;
  readonly seed?: number;
}): SyntheticCollection {
  const random = new Random(seed);
  const world = createWorld(random);
  const drafter = new Drafter(world, random);
  const byTerm = new Float64Array(MAX_LENGTH);
  const offsets = new Uint32Array(numDocs + 1);
  const terms = new Uint16Array(numDocs * 300 + MAX_LENGTH);
  const weights = new Float32Array(terms.length);
  const dfs = new Uint32Array(NUM_TERMS);
  const queryEvery = Math.max(1, Math.floor(numDocs / numQueries));
  const queryTerms: number[][] = [];
  for (let doc = 0; doc < numDocs; doc++) {
    const draft = drafter.draft();
    const weightOf = weigh(draft.terms.length, random);
    const length = draft.terms.length;
    for (let i = 0; i < length; i++) byTerm[i] = draft.terms[i] * TERM_RADIX + i;
    byTerm.subarray(0, length).sort();
    for (let i = 0, at = offsets[doc]; i < length; i++, at++) {
      const term = Math.floor(byTerm[i] / TERM_RADIX);
      terms[at] = term;
      weights[at] = weightOf[byTerm[i] - term * TERM_RADIX];
      dfs[term]++;
    }
    offsets[doc + 1] = offsets[doc] + length;
    if (doc % queryEvery === 0 && queryTerms.length < numQueries) queryTerms.push(draftQuery(world, draft, random));
  }
  const idf = (term: number): number => Math.log(1 + (numDocs - dfs[term] + 0.5) / (dfs[term] + 0.5));
  const size = offsets[numDocs];
  return {
    numDocs,
    offsets,
    terms: terms.subarray(0, size),
    weights: weights.subarray(0, size),
    queries: queryTerms.map((chosen) => sparseVector(chosen, chosen.map(idf))),
  };
}
