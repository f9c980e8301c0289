/**
 * `lzero quickstart`: the whole way, from documents to a measured search, on what comes with the package: the embedded
 * collection and the project's own docs. Its indexes stay, to be searched further.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { OutputError } from '../core/index.ts';
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
import { exists, makeFolder } from '../files/index.ts';
import type { Model } from '../model/index.ts';
import { closeAll } from './close-all.ts';
import type { CliContext } from './context.ts';
import { formatBytes, formatCount, formatDuration } from './format.ts';
import { runIndexJob } from './index-job.ts';
import { openSource } from './index-source.ts';
import { addModelOption, type ModelOptions, modelFrom } from './model-options.ts';
import { packageVersion, withExamples } from './program.ts';
import { showAnswer } from './show-answer.ts';

/** Judged queries of the embedded collection that have no word in common with their answer. */
const QUERIES: readonly string[] = [
  'kitty is shredding the couch',
  'electricity guzzling icebox',
  'newborn will not stop screaming',
];
/** Asked of the project's docs. */
const DOCS_QUERY = 'programs crash in the middle of writing';
const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
/** Hits of a query that is given; of the others one is enough to see what they show. */
const NUM_HITS = 3;

type QuickstartOptions = ModelOptions & { readonly output: string };

/** The `quickstart` command. */
export function quickstartCommand(context: CliContext): Command {
  const command = new Command('quickstart')
    .description('index the embedded collection and the docs, search them, measure the search, see what to try next')
    .argument('[query]', 'a question of your own, in place of three that share no word with their answers')
    .option('-o, --output <folder>', 'where the indexes go; those of an earlier tour are replaced', 'lzero-quickstart');
  addModelOption(command).action((query: string | undefined, options: QuickstartOptions) =>
    quickstart(context, query, options),
  );
  return withExamples(command, {
    'lzero quickstart': 'the tour',
    'lzero quickstart "is it safe to eat this egg"': 'with a question of your own',
    'lzero quickstart --model bow': 'without a network, where onnxruntime-node is not installed: words alone',
  });
}

/** What the tour makes, by the names of its indexes. */
type Indexes = { readonly learned: Index; readonly bm25: Index; readonly docs: Index };

async function quickstart(context: CliContext, query: string | undefined, options: QuickstartOptions): Promise<void> {
  const { output } = options;
  const began = context.clock();
  prepareFolder(output);
  const model = await modelFrom(context, options);
  const opened: Index[] = [];
  const build = async (name: string, kind: 'sparse' | 'bm25', input: string): Promise<Index> => {
    const index = await createIndex(await freshFolder(join(output, name)), { kind, model });
    opened.push(index);
    const own = kind === 'sparse' ? model : undefined;
    const source = await openSource(input, {}, { index, model: own, signal: context.signal, skipKnown: false });
    await runIndexJob(context, { index, source });
    return index;
  };
  try {
    const learned = await build('everyday.index', 'sparse', EMBEDDED_COLLECTION);
    const bm25 = await build('everyday-bm25.index', 'bm25', EMBEDDED_COLLECTION);
    const docs = await build('docs.index', 'sparse', DOCS);
    const seconds = (context.clock() - began) / 1000;
    const collection = await openCollection(EMBEDDED_COLLECTION);
    const queries = query === undefined ? QUERIES : [query];
    await show(context, { queries, model, collection, seconds, learned, bm25, docs });
  } finally {
    await closeAll([...opened, model]);
  }
}

function prepareFolder(output: string): void {
  try {
    makeFolder(output);
  } catch (error) {
    throw OutputError.writing(output, error);
  }
}

/** A folder for an index; an index that is there goes. What a killed tour has left `createIndex` takes over, and refuses all else. */
async function freshFolder(folder: string): Promise<string> {
  if (await exists(join(folder, 'manifest.json'))) await rm(folder, { recursive: true, force: true });
  return folder;
}

type Tour = Indexes & {
  readonly queries: readonly string[];
  readonly model: Model;
  readonly collection: Collection;
  readonly seconds: number;
};

/** A search, and where BM25 has its best document. */
type Found = {
  readonly query: string;
  readonly answer: SearchAnswer;
  readonly tookMs: number;
  /** From 1; null where BM25 does not find it. */
  readonly bm25Rank: number | null;
};

async function show(context: CliContext, tour: Tour): Promise<void> {
  const { stdout } = context;
  const { queries, docs } = tour;
  const report = await measure(context, tour); // first: it warms the indexes up, as a server's are
  const found: Found[] = [];
  for (const query of queries) found.push(await find(context, query, tour));
  const inDocs = await docs.search(DOCS_QUERY, { k: 1, snippets: true });
  const files = await filesOf(tour);
  if (context.options.json) {
    const [{ name, numQueries, numDocs, rows }] = report.collections;
    const measured = { name, numQueries, numDocs, rows: rows.map(({ system, values }) => ({ system, ...values })) };
    const searches = found.map(({ query, answer, tookMs, bm25Rank }) => ({ query, tookMs, bm25Rank, ...answer }));
    await stdout.writeJson({ searches, docs: { query: DOCS_QUERY, ...inDocs }, measured, files });
    return;
  }
  await stdout.write(await indexPart(tour));
  await stdout.write(searchPart(found, context));
  await stdout.write(docsPart(inDocs, context));
  await stdout.write(measuredPart(report, context));
  await stdout.write(filesPart(files));
}

async function find({ clock }: CliContext, query: string, { queries, learned, bm25 }: Tour): Promise<Found> {
  const began = clock();
  await learned.search(query); // by itself: passages and products are for people to read, and take longer
  const tookMs = clock() - began;
  const k = queries.length > 1 ? 1 : NUM_HITS;
  const answer = await learned.search(query, { k, explain: true, snippets: true });
  const { hits } = await bm25.search(query, { k: (await bm25.stats()).numDocs });
  return { query, answer, tookMs, bm25Rank: hits.find(({ id }) => id === answer.hits[0]?.id)?.rank ?? null };
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

type LeftFile = { readonly folder: string; readonly documents: number; readonly sizeBytes: number };

async function filesOf({ learned, bm25, docs }: Indexes): Promise<LeftFile[]> {
  return await Promise.all(
    [learned, bm25, docs].map(async (index) => {
      const { numDocs, sizeBytes = 0 } = await index.stats();
      return { folder: index.folder, documents: numDocs, sizeBytes };
    }),
  );
}

// ---- the parts of the tour

async function indexPart({ learned, docs, collection, model, seconds }: Tour): Promise<string> {
  const { numDocs, docLen = 0 } = await learned.stats();
  const parts = formatCount((await docs.stats()).numDocs);
  return [
    `1. The ${formatCount(numDocs)} passages of the embedded collection "${collection.name}" have become sparse vectors,`,
    `   ${docLen.toFixed(0)} terms each (model "${model.name}"), and so have the docs of lzero in ${parts} parts; words of`,
    `   the passages are a BM25 index to compare with. ${formatDuration(seconds)} in all.`,
    '',
    '',
  ].join('\n');
}

type Shown = { readonly colour: boolean };

function searchPart(found: readonly Found[], { colour }: Shown): string {
  const intro = `2. A query is cut into terms and weighed by a table; no model runs. A score is the sum of products over the terms that
   query and passage share. Terms "found by meaning" are not in the text: the model has added them.
`;
  const searches = found.map(({ query, answer, tookMs, bm25Rank }) => {
    const weighed = answer.terms.map(({ token, weight }) => `${token} ${weight.toFixed(2)}`).join(', ') || '(no terms)';
    const hits = showAnswer(answer, { colour, explain: true, tookMs });
    const standing = bm25Rank === null ? 'does not find it' : `has it at rank ${bm25Rank}`;
    return `\n   "${query}"\n     ${weighed}\n${hits}${answer.hits.length > 0 ? `BM25 ${standing}.\n` : ''}`;
  });
  return `${intro}${searches.join('')}\n`;
}

function docsPart(answer: SearchAnswer, { colour }: Shown): string {
  const found = showAnswer(answer, { colour, explain: false, tookMs: undefined });
  return `3. The docs of lzero, asked "${DOCS_QUERY}":\n\n${found}\n`;
}

function measuredPart(report: EvalReport, { colour }: Shown): string {
  const table = renderText(report, { colour })
    .trimEnd()
    .replace(/^(?=.)/gm, '   ');
  return `4. How good is that? Measured over the judged queries of the collection:\n\n${table}\n\n`;
}

function filesPart(files: readonly LeftFile[]): string {
  const rows = files.map(
    ({ folder, documents, sizeBytes }) =>
      `   ${folder.padEnd(40)} ${formatBytes(sizeBytes).padStart(9)}  ${formatCount(documents)} documents`,
  );
  return `5. What is left on disk:\n\n${rows.join('\n')}\n\n${nextSteps(files)}`;
}

function nextSteps([learned]: readonly LeftFile[]): string {
  return `Try next (in a clone, "node dist/cli/main.js" stands for "lzero"):
  lzero search ${learned.folder} "your own words" --explain
  lzero index ./my-docs -o my-docs.index            your own pages: .md, .html, .txt
  lzero eval everyday --system bm25 --system default --system rrf:bm25+default
  lzero model info                                  what the embedded model is, and what it was trained on
  lzero doctor                                      what this machine has
`;
}
