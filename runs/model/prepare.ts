/**
 * The training data of the shipped model: documents of licensed sources with their queries, queries made of documents
 * that have few, and nothing that stands in a set that the model is measured on.
 *
 *     npx tsx runs/model/prepare.ts DATA WORK [--part 1/2]
 *
 * DATA is the unpacked folder of real data. Writes WORK/documents.jsonl ({"_id","source","text","queries"}) and prints how
 * many documents each source has, how many of them were dropped and why. --part 1/2 writes about every second document, --part
 * 2/2 the others, by their ids: what a sitting has time to have encoded by a teacher.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { evenlySpaced } from '../../src/core/index.ts';
import { EMBEDDED_COLLECTION } from '../../src/data/index.ts';
import { writeFileAtomically } from '../../src/files/index.ts';
import { loadModel } from '../../src/model/index.ts';
import { DocumentPool, type MadeQuery, makeQueries } from '../../src/teach/index.ts';
import { documentText } from '../../src/text/index.ts';
import { EVALUATION_SETS, folderOf, linesOf } from './evaluation.ts';
import { KnownTexts } from './overlap.ts';
import { rows, SOURCES, type Source, type TrainingDocument } from './sources.ts';

/** Queries of a document at most, of those that it has, and made ones besides. */
const MAX_QUERIES = 6;
const MADE_QUERIES = 2;
/** Shorter texts say nothing that a search could find; longer queries are texts. */
const MIN_WORDS = 5;
const MAX_QUERY_WORDS = 40;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { part: { type: 'string', default: '1/1' } },
});
const [data, work] = positionals;
const [part, numParts] = values.part.split('/').map(Number);
if (!data || !work || !(part >= 1 && part <= numParts))
  throw new Error('usage: npx tsx runs/model/prepare.ts DATA WORK [--part 1/2]');
mkdirSync(work, { recursive: true });

const { documents: known, queries: knownQueries } = await measuredTexts();
let numMadeKnown = 0;
const side = await loadModel('bow');
const seen = new KnownTexts();
/** A document as it is written, with how many of its queries were made of it. */
type Written = {
  readonly _id: string;
  readonly source: string;
  readonly text: string;
  readonly queries: readonly string[];
  readonly numMade: number;
};
const all: Written[] = [];
for (const source of SOURCES) {
  const { kept, report } = await documentsOf(source);
  console.log(report);
  all.push(...withMadeQueries(kept, source.name));
}
const asked = all.filter(({ _id, queries }) => queries.length > 0 && hashOf(_id) % numParts === part - 1);
const count = (of: (document: Written) => number): number => asked.reduce((sum, document) => sum + of(document), 0);
await writeFileAtomically(join(work, 'documents.jsonl'), linesOf(asked.map(({ numMade: _, ...document }) => document)));
console.log(
  `${asked.length} documents with ${count(({ queries }) => queries.length)} queries written (part ${values.part} of ${all.length}); ` +
    `${count(({ numMade }) => numMade)} of the queries are made of the documents, ${numMadeKnown} of those were dropped since they stand in measured sets`,
);

/** All that stands in sets that the model is measured on: every document, and the queries of every split. */
async function measuredTexts(): Promise<{ readonly documents: KnownTexts; readonly queries: KnownTexts }> {
  const [documents, queries] = [new KnownTexts(), new KnownTexts()];
  const folders = await Promise.all(EVALUATION_SETS.map((set) => folderOf(set, data, work)));
  for (const folder of [...folders, EMBEDDED_COLLECTION]) {
    for await (const { text } of rows<{ text: string }>(join(folder, 'corpus.jsonl'))) documents.add(text);
    for await (const { text } of rows<{ text: string }>(join(folder, 'queries.jsonl'))) queries.add(text);
  }
  return { documents, queries };
}

/** Documents of a source that may be trained on, at most as many as it may give, those that people have asked for first. */
async function documentsOf({ name, licence, cap, read }: Source) {
  const dropped = { short: 0, measured: 0, twice: 0 };
  let numKnown = 0;
  const found: TrainingDocument[] = [];
  for await (const document of read(data)) {
    const reason = reasonToDrop(document);
    if (reason) dropped[reason]++;
    else {
      numKnown += document.queries.filter((query) => knownQueries.has(query)).length;
      found.push({ ...document, queries: usableQueries(document) });
    }
  }
  const [withQueries, without] = [true, false].map((has) => found.filter(({ queries }) => queries.length > 0 === has));
  const kept = [...evenlySpaced(withQueries, cap), ...evenlySpaced(without, Math.max(0, cap - withQueries.length))];
  const numQueries = kept.reduce((sum, { queries }) => sum + queries.length, 0);
  const reasons = `${dropped.measured} stand in measured sets, ${dropped.twice} twice, ${dropped.short} too short`;
  const beyond = `${found.length - kept.length} beyond the cap`;
  return {
    kept,
    report: `${name} (${licence}): ${kept.length} documents, ${numQueries} queries; left out: ${reasons}, ${beyond}; ${numKnown} queries stand in measured sets`,
  };
}

function reasonToDrop({ title, text }: TrainingDocument): 'short' | 'measured' | 'twice' | undefined {
  if (text.split(/\s+/).length < MIN_WORDS) return 'short';
  if (known.has(text)) return 'measured';
  const whole = `${title} ${text}`;
  if (seen.has(whole)) return 'twice';
  seen.add(whole);
  return undefined;
}

function usableQueries({ queries }: TrainingDocument): string[] {
  return [...new Set(queries)]
    .filter((query) => query.split(/\s+/).length <= MAX_QUERY_WORDS && !knownQueries.has(query))
    .slice(0, MAX_QUERIES);
}

/**
 * Titles, first sentences, definitions and key phrases as queries, besides those that a document has. What the first of them
 * was made of is left out of the text, else own words would answer it.
 */
function withMadeQueries(documents: readonly TrainingDocument[], source: string): Written[] {
  const pool = new DocumentPool(documents.map(({ id, title, text }) => ({ id, title, text })));
  const options = {
    kinds: ['titles', 'sentences', 'definitions', 'phrases'],
    perDocument: MADE_QUERIES,
    seed: 1,
  } as const;
  const made = new Map<string, MadeQuery[]>();
  for (const query of makeQueries(pool, side, options))
    if (knownQueries.has(query.text)) numMadeKnown++;
    else made.set(query.positives[0], [...(made.get(query.positives[0]) ?? []), query]);
  return documents.map(({ id, queries, ...document }) => {
    const own = made.get(id) ?? [];
    const text = own[0]?.positiveTexts?.[0] ?? documentText(document);
    const every = [...new Set([...queries, ...own.map((query) => query.text)])];
    return { _id: `${source}:${id}`, source, text, queries: every, numMade: every.length - queries.length };
  });
}

function hashOf(id: string): number {
  return createHash('md5').update(id).digest().readUInt32BE(0);
}
