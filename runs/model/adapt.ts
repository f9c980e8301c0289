/**
 * What clicks are worth: the embedded model, adapted to documentation as `lzero model adapt` does it. Titles of pages are the
 * queries; every second one is a query that somebody has asked, and the passages of its page are what was opened for it; the others are
 * measured. The penalty is chosen on Linux's documentation and told once on Python's.
 *
 *     npx tsx runs/model/adapt.ts DATA WORK
 *
 * Passages are read once, by the encoder of the model in int8, and remembered in WORK/cache. Term vectors are in 4-bit codes, as they
 * ship; the product with them is in float32. Weights are computed for asked terms alone, since adapting moves no others: NDCG@10 and FLOPS are
 * whole, the length of documents is told as a difference. WORK/adapt/python has the collection with the splits train and test, for the commands of
 * docs/TRAINING.md.
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openCollection, type Qrels } from '../../src/data/index.ts';
import { compareWithBaseline, type Evaluation, evaluateRun } from '../../src/eval/index.ts';
import { adaptTopicHead, type ClickedQuery } from '../../src/model/adapt-topic-head.ts';
import { type LexicalRule, lexicalPart, loadModel, type Model, type Rows, rowsOf } from '../../src/model/index.ts';
import { dequantiseRows } from '../../src/model/int8/codes.ts';
import { packRows, unpackRows } from '../../src/model/int8/four-bits.ts';
import type { TopicHead } from '../../src/model/topic-head.ts';
import { openScorer } from '../../src/teach/index.ts';
import { documentText, encodeQuery } from '../../src/text/index.ts';
import { evenlySpaced } from '../lib/evenly-spaced.ts';
import { markdownHead, markdownRow } from '../lib/markdown.ts';
import { embeddedHead, MODEL, weightOf } from './embedded-head.ts';
import { EVALUATION_SETS, type EvaluationSet, folderOf } from './evaluation.ts';
import { progressLine } from './progress.ts';

const CHOSEN_ON = 'linux';
const TOLD_ON = 'python';
const PENALTIES = [0.1, 0.3, 1, 3];
/** Passages that stand for all, as many as `lzero model adapt` takes. */
const SAMPLE = 500;
/** NDCG@10 that is no difference: of penalties that close to the best, the one with the fewest FLOPS is chosen. */
const ALIKE = 0.002;
/** Clicks that a second row has, to see what fewer are worth. */
const FEW = 50;

const { positionals } = parseArgs({ allowPositionals: true });
const [data, work] = positionals;
if (!data || !work) throw new Error('usage: npx tsx runs/model/adapt.ts DATA WORK');

const model = await loadModel(MODEL);
const { settings } = model;
if (settings.kind !== 'bert' || !settings.lexical) throw new Error(`bug: ${MODEL} has no lexical part`);
const { encodeLength, lexical } = settings;
const head = await embeddedHead();

const development = await measurer(CHOSEN_ON);
const rows = PENALTIES.map((penalty) => development({ penalty }));
const most = Math.max(...rows.map(({ ndcg }) => ndcg));
const { penalty } = rows.filter(({ ndcg }) => ndcg > most - ALIKE).reduce((a, b) => (b.flops < a.flops ? b : a));
console.log(`\nchosen on ${CHOSEN_ON}: penalty ${penalty}`);
const told = await measurer(TOLD_ON);
told({ penalty });
told({ penalty, numClicks: FEW });
await model.close();

type TrialResult = Pick<Measured, 'ndcg' | 'flops'> & { readonly penalty: number };
type Trial = { readonly penalty: number; readonly numClicks?: number };

/** Reads a set and prints the model as it is; gives what adapts it and prints a row. */
async function measurer(name: string): Promise<(trial: Trial) => TrialResult> {
  const set = await readSet(name);
  const { clicked, asked } = set;
  const sample = evenlySpaced([...set.ids.keys()], SAMPLE);
  console.log(`\n${name}: ${clicked.length} queries clicked, ${asked.size} measured, ${set.numDocs} passages\n`);
  console.log(markdownHead(['', 'NDCG@10', 'Δ, points, 95 %', 'FLOPS', 'terms a document']));
  const terms = new Set([...clicked, ...set.queries].flatMap(({ vector }) => [...vector.terms]));
  const weights = weightsOf(head, terms, set);
  const base = measure(weights, set);
  console.log(markdownRow(['embedded', base.ndcg.toFixed(4), '–', base.flops.toFixed(2), '–']));
  return ({ penalty, numClicks = clicked.length }) => {
    const queries = evenlySpaced(clicked, numClicks);
    const changed = new Set(queries.flatMap(({ vector }) => [...vector.terms]));
    const adapted = inCodes(adaptTopicHead(head, { queries, sample, states: set.states, penalty }), changed);
    const own = measure(new Map([...weights, ...weightsOf(adapted, changed, set)]), set);
    const [{ difference }] = compareWithBaseline(base.evaluation, [own.evaluation], { metric: 'ndcg@10' });
    const [mean, low, high] = [difference.mean, difference.low, difference.high].map((x) => signed(100 * x, 1));
    const longer = signed(own.numKept - base.numKept, 1);
    const what = `${queries.length} clicks, penalty ${penalty}`;
    console.log(markdownRow([what, own.ndcg.toFixed(4), `${mean}, ${low} … ${high}`, own.flops.toFixed(2), longer]));
    return { penalty, ndcg: own.ndcg, flops: own.flops };
  };
}

function signed(value: number, digits: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(digits)}`;
}

/** Term vectors as they are stored. */
function inCodes(adapted: TopicHead, terms: ReadonlySet<number>): TopicHead {
  const { width } = adapted.terms;
  const stored = adapted.terms.data.slice();
  for (const term of terms) {
    const row = stored.slice(term * width, (term + 1) * width);
    stored.set(dequantiseRows(unpackRows(packRows(row, width))), term * width);
  }
  return { ...adapted, terms: { data: stored, width } };
}

type Asked = ClickedQuery & { readonly id: string };
type ReadSet = {
  readonly numDocs: number;
  readonly ids: readonly string[];
  /** t, [D, H] */
  readonly states: Rows;
  /** Terms that the network reads of each document. */
  readonly inText: readonly ReadonlySet<number>[];
  /** Lexical parts, by term. */
  readonly lexicalParts: readonly ReadonlyMap<number, number>[];
  readonly clicked: readonly Asked[];
  /** Queries that are measured, and their judgements. */
  readonly queries: readonly Asked[];
  readonly asked: Qrels;
};

async function readSet(name: string): Promise<ReadSet> {
  const set = EVALUATION_SETS.find((known) => known.name === name);
  if (!set) throw new Error(`bug: there is no set ${name}`);
  const source = await folderOf(set, data, work);
  const collection = await openCollection(source, { split: set.split });
  const [ids, texts]: [string[], string[]] = [[], []];
  for await (const document of collection.documents()) {
    ids.push(document.id);
    texts.push(documentText(document));
  }
  const places = new Map(ids.map((id, d) => [id, d]));
  const queries = collection.queries.map(({ id, text = '' }): Asked => {
    const opened = [...(collection.qrels.get(id) ?? [])].filter(([, grade]) => grade > 0);
    const documents = opened.flatMap(([document]) => places.get(document) ?? []);
    return { id, vector: encodeQuery(model, text).vector, documents };
  });
  const clicked = everySecond(queries, 0);
  const measured = everySecond(queries, 1);
  const asked = new Map(measured.map(({ id }) => [id, collection.qrels.get(id) ?? new Map<string, number>()]));
  writeSplits(set, source, { train: clicked, test: measured }, collection.qrels);
  const terms = { idf: model.idf.values, droppedTerms: model.tokenizer.vocabulary.specialIds };
  return {
    numDocs: ids.length,
    ids,
    states: await statesOf(texts),
    inText: texts.map((text) => new Set(model.tokenizer.encodeForModel(text, encodeLength).ids)),
    lexicalParts: texts.map((text) => byTerm(model, text, lexical, terms)),
    clicked,
    queries: measured,
    asked,
  };
}

function everySecond<T>(items: readonly T[], first: 0 | 1): T[] {
  return items.filter((_, i) => i % 2 === first);
}

function byTerm(
  { tokenizer }: Model,
  text: string,
  rule: LexicalRule,
  terms: Parameters<typeof lexicalPart>[2],
): ReadonlyMap<number, number> {
  const part = lexicalPart(tokenizer.encode(text), rule, terms);
  return new Map(Array.from(part.terms, (term, i) => [term, part.weights[i]]));
}

/** The collection with the splits train and test. */
function writeSplits(
  { name }: EvaluationSet,
  source: string,
  splits: Readonly<Record<string, readonly Asked[]>>,
  qrels: Qrels,
): void {
  const folder = join(work, 'adapt', name);
  mkdirSync(join(folder, 'qrels'), { recursive: true });
  for (const file of ['corpus.jsonl', 'queries.jsonl']) cpSync(join(source, file), join(folder, file));
  for (const [split, queries] of Object.entries(splits)) {
    const lines = queries.flatMap(({ id }) =>
      [...(qrels.get(id) ?? [])].map(([document, grade]) => `${id}\t${document}\t${grade}\n`),
    );
    writeFileSync(join(folder, `qrels/${split}.tsv`), `query-id\tcorpus-id\tscore\n${lines.join('')}`);
  }
}

async function statesOf(texts: readonly string[]): Promise<Rows> {
  const spec = { model: MODEL, kind: 'dense', pooling: 'mean', maxLength: encodeLength, precision: 'int8' } as const;
  const scorer = await openScorer(spec, { folder: join(work, 'cache/teachers') });
  try {
    if (!scorer.denseVectorsOf) throw new Error('bug: the encoder is not dense');
    const onProgress = progressLine('passages', texts.length);
    return rowsOf(await scorer.denseVectorsOf('document', texts, { onProgress }));
  } finally {
    await scorer.close();
  }
}

/** Weights of documents by term, [D] each: network (src/model/topic-head.ts, by the formula) and lexical part. */
type Weights = ReadonlyMap<number, Float32Array>;

function weightsOf({ terms, mean, bias, ownBias }: TopicHead, chosen: Iterable<number>, set: ReadSet): Weights {
  const { data: t, width } = set.states;
  const ofTerm = (j: number): Float32Array => {
    const c = terms.data.subarray(j * width, (j + 1) * width);
    const offset = c.reduce((sum, value, k) => sum + value * mean[k], 0);
    return Float32Array.from({ length: set.numDocs }, (_, d) => {
      let x = -offset;
      for (let k = 0, at = d * width; k < width; k++, at++) x += t[at] * c[k];
      return weightOf(x, set.inText[d].has(j) ? ownBias[j] : bias[j]) + (set.lexicalParts[d].get(j) ?? 0);
    });
  };
  return new Map(Array.from(chosen, (j) => [j, ofTerm(j)]));
}

type Measured = {
  readonly ndcg: number;
  /** Shared terms of a query and a document, on average. */
  readonly flops: number;
  /** Those of the terms that are in a document, on average. */
  readonly numKept: number;
  readonly evaluation: Evaluation;
};

function measure(weights: Weights, { ids, queries, asked, numDocs }: ReadSet): Measured {
  const numWith = new Map(Array.from(weights, ([term, own]) => [term, own.reduce((n, w) => n + (w > 0 ? 1 : 0), 0)]));
  let numProducts = 0;
  const run = new Map(
    queries.map(({ id, vector }) => {
      const scores = new Float64Array(numDocs);
      vector.terms.forEach((term, i) => {
        numProducts += numWith.get(term) ?? 0;
        weights.get(term)?.forEach((weight, d) => {
          scores[d] += vector.weights[i] * weight;
        });
      });
      const found = Array.from(scores.keys()).filter((d) => scores[d] > 0);
      const first = found.sort((a, b) => scores[b] - scores[a]).slice(0, 10);
      return [id, first.map((d) => ({ id: ids[d], score: scores[d] }))] as const;
    }),
  );
  const evaluation = evaluateRun(run, asked, { metrics: ['ndcg@10'], averageOver: 'judged' });
  const numKept = [...numWith.values()].reduce((sum, n) => sum + n, 0) / numDocs;
  return { ndcg: evaluation.mean['ndcg@10'], flops: numProducts / queries.length / numDocs, numKept, evaluation };
}
