/**
 * What clicks are worth: the embedded model, adapted to collections as `lzero model adapt` does it. Every second query is one that somebody
 * has asked, and what is judged relevant was opened for it; the others are measured. Titles of Linux's and Python's documentation,
 * each over passages of one subject; the questions of NFCorpus' train split, measured on dev; and the embedded collection, a query
 * or so to each of many subjects.
 *
 *     npx tsx runs/model/adapt.ts DATA WORK [--sets linux,python,nfcorpus,everyday]
 *
 * Rows: the model as it is, each penalty, and what `--penalty auto` takes, by the clicks alone. Passages are read once, by the encoder of the model in
 * int8, and remembered in WORK/cache. Term vectors are in 4-bit codes, as they ship; the product with them is in float32. Weights are
 * computed for asked terms alone, since adapting moves no others: NDCG@10 and FLOPS are whole, the length of documents is told as a
 * difference. WORK/adapt has the collections with the splits train and test, for the commands of docs/TRAINING.md.
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { choosePenalty, PENALTIES } from '../../src/cli/adapt-penalty.ts';
import { evenlySpaced, NoGainError } from '../../src/core/index.ts';
import { openCollection, type Qrels } from '../../src/data/index.ts';
import { compareWithBaseline, type Evaluation, evaluateRun } from '../../src/eval/index.ts';
import { adaptTopicHead, type ClickedQuery, termsOf } from '../../src/model/adapt-topic-head.ts';
import { holdOutClicks, loadModel, type Rows, rowsOf } from '../../src/model/index.ts';
import { dequantiseRows } from '../../src/model/int8/codes.ts';
import { packRows, unpackRows } from '../../src/model/int8/four-bits.ts';
import type { TopicHead } from '../../src/model/topic-head.ts';
import { type ReadDocuments, readDocuments, weightsOfTerm } from '../../src/model/topic-weights.ts';
import { openScorer } from '../../src/teach/index.ts';
import { documentText, encodeQuery } from '../../src/text/index.ts';
import { chosenByName } from '../lib/chosen-by-name.ts';
import { markdownHead, markdownRow } from '../lib/markdown.ts';
import { embeddedHead, MODEL } from './embedded-head.ts';
import { EVALUATION_SETS, folderOf } from './evaluation.ts';
import { progressLine } from './progress.ts';

/** Passages that stand for all, as many as `lzero model adapt` takes. */
const SAMPLE = 500;
/** Clicks of a second call, to see what fewer are worth. */
const FEW = 50;

/** A collection to adapt to. Where clicks have no split of their own, every second query of `measured` is one. */
type Adapted = { readonly name: string; readonly clicks?: string; readonly measured: string };
const ADAPTED: readonly Adapted[] = [
  { name: 'linux', measured: 'test' },
  { name: 'python', measured: 'test' },
  { name: 'nfcorpus', clicks: 'train', measured: 'dev' },
  { name: 'everyday', measured: 'test' },
];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { sets: { type: 'string', default: ADAPTED.map(({ name }) => name).join(',') } },
});
const [data, work] = positionals;
if (!data || !work) throw new Error('usage: npx tsx runs/model/adapt.ts DATA WORK');
const chosen = chosenByName(ADAPTED, values.sets, { option: '--sets' });

const model = await loadModel(MODEL);
const { settings } = model;
if (settings.kind !== 'bert') throw new Error(`bug: ${MODEL} has no network`);
const source = { ...model.source, settings };
const head = await embeddedHead();
for (const adapted of chosen) await measureSet(adapted);
await model.close();

async function measureSet(adapted: Adapted): Promise<void> {
  const set = await readSet(adapted);
  const { clicked, queries, asked, documents, texts } = set;
  const { states } = documents;
  const sample = evenlySpaced([...texts.keys()], SAMPLE);
  console.log(
    `\n${adapted.name}: ${clicked.length} queries clicked, ${asked.size} measured, ${texts.length} passages\n`,
  );
  console.log(markdownHead(['', 'NDCG@10', 'Δ, points, 95 %', 'FLOPS', 'terms a document']));
  const weights = weightsOf(head, termsOf([...clicked, ...queries]), documents);
  const base = measure(weights, set);
  console.log(markdownRow(['embedded', base.ndcg.toFixed(4), '–', base.flops.toFixed(2), '–']));
  for (const penalty of PENALTIES) row({ penalty, learned: clicked });
  for (const count of [clicked.length, FEW].filter((number) => number <= clicked.length)) {
    const learned = evenlySpaced(clicked, count);
    const auto = await autoPenalty(learned, { sample, states, texts });
    if (auto === undefined) console.log(markdownRow([`${count} clicks, auto: none helps`, '–', '–', '–', '–']));
    else row({ penalty: auto, learned, isAuto: true });
  }

  function row({ penalty, learned, isAuto = false }: Trial): void {
    const changed = termsOf(learned);
    const moved = inCodes(adaptTopicHead(head, { queries: learned, sample, states, penalty }), changed);
    const own = measure(new Map([...weights, ...weightsOf(moved, changed, documents)]), set);
    const [{ difference }] = compareWithBaseline(base.evaluation, [own.evaluation], { metric: 'ndcg@10' });
    const [mean, low, high] = [difference.mean, difference.low, difference.high].map((x) => signed(100 * x, 1));
    const longer = signed(own.numKept - base.numKept, 1);
    const what = `${learned.length} clicks, ${isAuto ? 'auto: ' : 'penalty '}${penalty}`;
    console.log(markdownRow([what, own.ndcg.toFixed(4), `${mean}, ${low} … ${high}`, own.flops.toFixed(2), longer]));
  }
}

type Trial = { readonly penalty: number; readonly learned: readonly Asked[]; readonly isAuto?: boolean };

/** What `--penalty auto` takes; undefined where it refuses. */
async function autoPenalty(
  learned: readonly Asked[],
  {
    sample,
    states,
    texts,
  }: { readonly sample: readonly number[]; readonly states: Rows; readonly texts: readonly string[] },
): Promise<number | undefined> {
  const clicks = learned.map(({ text, documents }) => ({ query: text, documents }));
  try {
    return choosePenalty(await holdOutClicks(source, { clicks, sample, states, texts, penalties: PENALTIES })).best
      .penalty;
  } catch (error) {
    if (error instanceof NoGainError) return undefined;
    throw error;
  }
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

type Asked = ClickedQuery & { readonly id: string; readonly text: string };
type ReadSet = {
  readonly ids: readonly string[];
  readonly texts: readonly string[];
  readonly documents: ReadDocuments;
  readonly clicked: readonly Asked[];
  /** Queries that are measured, and their judgements. */
  readonly queries: readonly Asked[];
  readonly asked: Qrels;
};

async function readSet({ name, clicks, measured }: Adapted): Promise<ReadSet> {
  const folder = await placeOf(name);
  const collection = await openCollection(folder, { split: measured });
  const [ids, texts]: [string[], string[]] = [[], []];
  for await (const document of collection.documents()) {
    ids.push(document.id);
    texts.push(documentText(document));
  }
  const places = new Map(ids.map((id, d) => [id, d]));
  const askedIn = ({ queries, qrels }: Pick<typeof collection, 'queries' | 'qrels'>): Asked[] =>
    queries.map(({ id, text = '' }) => {
      const opened = [...(qrels.get(id) ?? [])].filter(([, grade]) => grade > 0);
      const documents = opened.flatMap(([document]) => places.get(document) ?? []);
      return { id, text, vector: encodeQuery(model, text).vector, documents };
    });
  const all = askedIn(collection);
  const others = clicks === undefined ? undefined : await openCollection(folder, { split: clicks });
  const clicked = others ? askedIn(others) : everySecond(all, 0);
  const queries = others ? all : everySecond(all, 1);
  const judgements = new Map([...collection.qrels, ...(others?.qrels ?? [])]);
  writeSplits(name, folder, { train: clicked, test: queries }, judgements);
  return {
    ids,
    texts,
    documents: readDocuments(source, texts, await statesOf(texts)),
    clicked: clicked.filter(({ vector, documents }) => vector.terms.length > 0 && documents.length > 0),
    queries,
    asked: new Map(queries.map(({ id }) => [id, collection.qrels.get(id) ?? new Map<string, number>()])),
  };
}

async function placeOf(name: string): Promise<string> {
  const set = EVALUATION_SETS.find((known) => known.name === name);
  return set ? await folderOf(set, data, work) : resolve(import.meta.dirname, '../../collections', name);
}

function everySecond<T>(items: readonly T[], first: 0 | 1): T[] {
  return items.filter((_, i) => i % 2 === first);
}

/** The collection with the splits train and test. */
function writeSplits(
  name: string,
  from: string,
  splits: Readonly<Record<string, readonly Asked[]>>,
  qrels: Qrels,
): void {
  const folder = join(work, 'adapt', name);
  mkdirSync(join(folder, 'qrels'), { recursive: true });
  for (const file of ['corpus.jsonl', 'queries.jsonl']) cpSync(join(from, file), join(folder, file));
  for (const [split, queries] of Object.entries(splits)) {
    const lines = queries.flatMap(({ id }) =>
      [...(qrels.get(id) ?? [])].map(([document, grade]) => `${id}\t${document}\t${grade}\n`),
    );
    writeFileSync(join(folder, `qrels/${split}.tsv`), `query-id\tcorpus-id\tscore\n${lines.join('')}`);
  }
}

async function statesOf(texts: readonly string[]): Promise<Rows> {
  const spec = {
    model: MODEL,
    kind: 'dense',
    pooling: 'mean',
    maxLength: source.settings.encodeLength,
    precision: 'int8',
  } as const;
  const scorer = await openScorer(spec, { folder: join(work, 'cache/teachers') });
  try {
    if (!scorer.denseVectorsOf) throw new Error('bug: the encoder is not dense');
    const onProgress = progressLine('passages', texts.length);
    return rowsOf(await scorer.denseVectorsOf('document', texts, { onProgress }));
  } finally {
    await scorer.close();
  }
}

/** Weights of documents by term, [D] each. */
type Weights = ReadonlyMap<number, Float32Array>;

function weightsOf(own: TopicHead, terms: ReadonlySet<number>, documents: ReadDocuments): Weights {
  return new Map(Array.from(terms, (j) => [j, weightsOfTerm(own, j, documents)]));
}

type Measured = {
  readonly ndcg: number;
  /** Shared terms of a query and a document, on average. */
  readonly flops: number;
  /** Those of the terms that are in a document, on average. */
  readonly numKept: number;
  readonly evaluation: Evaluation;
};

function measure(weights: Weights, { ids, queries, asked }: ReadSet): Measured {
  const numDocs = ids.length;
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
