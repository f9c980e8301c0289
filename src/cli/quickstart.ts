/** `lzero quickstart`: the whole way on the embedded collection, from documents to a measured search, in seconds. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { type Collection, EMBEDDED_COLLECTION, openCollection } from '../data/index.ts';
import { createIndex, type Index, type SearchAnswer } from '../engines/index.ts';
import {
  buildReport,
  depthOf,
  type EvalReport,
  evaluateRun,
  indexSystem,
  renderText,
  runSystem,
  TABLE_METRICS,
} from '../eval/index.ts';
import { loadModel, type Model } from '../model/index.ts';
import type { CliContext } from './context.ts';
import { formatBytes, formatCount, formatDuration } from './format.ts';
import { packageVersion, withExamples } from './program.ts';
import { showAnswer } from './show-answer.ts';

/** Shares words with its answer, so that a bag of words finds it, and has one that the answer puts in another way. */
const QUERY = 'cat scratching the sofa';
/** Hits that are shown. */
const NUM_HITS = 3;

/** The `quickstart` command. */
export function quickstartCommand(context: CliContext): Command {
  const command = new Command('quickstart')
    .description('index the embedded collection, search it, measure the search, and see what to try next')
    .argument('[query]', 'another question', QUERY)
    .action((query: string) => quickstart(context, query));
  return withExamples(command, {
    'lzero quickstart': 'the tour',
    'lzero quickstart "is it safe to eat this egg"': 'with a question of your own',
  });
}

async function quickstart(context: CliContext, query: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lzero-quickstart-'));
  const model = await loadModel();
  const collection = await openCollection(EMBEDDED_COLLECTION);
  const indexes: Index[] = [];
  try {
    const began = context.clock();
    for (const kind of ['bm25', 'sparse'] as const) {
      const index = await createIndex(join(folder, kind), { kind, model });
      indexes.push(index);
      await index.add(collection.documents({ signal: context.signal }));
      await index.commit();
    }
    const seconds = (context.clock() - began) / 1000;
    const [bm25, learned] = indexes;
    await show(context, { query, model, collection, bm25, learned, seconds });
  } finally {
    for (const index of indexes) await index.close();
    await model.close();
    await rm(folder, { recursive: true, force: true });
  }
}

type Tour = {
  readonly query: string;
  readonly model: Model;
  readonly collection: Collection;
  readonly bm25: Index;
  readonly learned: Index;
  readonly seconds: number;
};

async function show(context: CliContext, tour: Tour): Promise<void> {
  const { stdout, clock } = context;
  const { query, learned } = tour;
  const report = await measure(context, tour);
  const began = clock(); // of a warm index, as a server or a second search has it
  const answer = await learned.search(query, { k: NUM_HITS, explain: true });
  const tookMs = clock() - began;
  if (context.options.json) {
    const [{ name, numQueries, numDocs, rows }] = report.collections;
    const measured = { name, numQueries, numDocs, rows: rows.map(({ system, values }) => ({ system, ...values })) };
    await stdout.writeJson({ query, tookMs, ...answer, measured });
    return;
  }
  await stdout.write(await indexPart(tour));
  await stdout.write(queryPart(query, answer));
  const shown = await learned.search(query, { k: NUM_HITS, explain: true, snippets: true });
  await stdout.write(hitsPart(shown, { colour: context.colour, tookMs }));
  await stdout.write(measuredPart(report, { colour: context.colour }));
  await stdout.write(NEXT_STEPS);
}

/** Both systems over the judged queries. */
async function measure({ signal }: CliContext, { collection, bm25, learned, model }: Tour): Promise<EvalReport> {
  const named = [
    indexSystem(bm25, { name: 'bm25', id: 'bm25' }),
    indexSystem(learned, { name: model.name, id: 'learned' }),
  ];
  const systems = [];
  for (const system of named) {
    const { run, costs } = await runSystem(system, collection, { k: depthOf(TABLE_METRICS), signal });
    const evaluation = evaluateRun(run, collection.qrels, { metrics: TABLE_METRICS, averageOver: 'judged' });
    systems.push({ system: system.name, costs, evaluation });
  }
  const { numDocs } = await learned.stats();
  const { name, split } = collection;
  const provenance = { command: 'lzero quickstart', versions: { lzero: packageVersion() }, configuration: {} };
  return buildReport({ collections: [{ name, split, numDocs, systems }], provenance });
}

// ---- the parts of the tour

async function indexPart({ learned, collection, model, seconds }: Tour): Promise<string> {
  const { numDocs, sizeBytes = 0, docLen = 0 } = await learned.stats();
  return [
    `1. The ${formatCount(numDocs)} passages of the embedded collection "${collection.name}" become sparse vectors,`,
    `   ${docLen.toFixed(0)} terms each (model "${model.name}"), and an index of ${formatBytes(sizeBytes)};`,
    `   their words become a BM25 index to compare with. ${formatDuration(seconds)} for both.`,
    '',
    '',
  ].join('\n');
}

function queryPart(query: string, { terms }: SearchAnswer): string {
  const weighed = terms.map(({ token, weight }) => `${token} ${weight.toFixed(2)}`).join(', ') || '(no terms)';
  return `2. The query "${query}" is cut into terms and weighed by a table; no model runs:\n     ${weighed}\n\n`;
}

type HitsPart = { readonly colour: boolean; readonly tookMs: number };

function hitsPart(answer: SearchAnswer, shown: HitsPart): string {
  const hits = showAnswer(answer, { ...shown, explain: true });
  return `3. The best passages. A score is the sum of products over the terms that query and passage share:\n\n${hits}\n`;
}

function measuredPart(report: EvalReport, { colour }: { readonly colour: boolean }): string {
  const table = renderText(report, { colour })
    .trimEnd()
    .replace(/^(?=.)/gm, '   ');
  return `4. How good is that? Measured over the judged queries of the collection:\n\n${table}\n\n`;
}

const NEXT_STEPS = `The embedded model is a bag of words: it needs no download, and finds what shares words with the query. That a "kitty" is
a cat, or a "couch" a sofa, it does not know. A neural model adds the terms that a text means: lzero is made for those.

Try next (in a clone, "node dist/cli/main.js" stands for "lzero"):
  lzero index ./docs -o docs.index                 your own pages: .md, .html, .txt
  lzero search docs.index "your own words"
  lzero model import CHECKPOINT -o my-model        a Hugging Face BERT with an MLM head, such as a SPLADE
  lzero eval everyday --system bm25 --system ./my-model --html report.html
  lzero doctor                                     what this machine has for that
`;
