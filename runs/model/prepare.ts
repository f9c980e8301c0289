/**
 * The training data of the shipped model: documents of licensed sources with their queries, queries made of documents
 * that have few, and nothing that stands in a set that the model is measured on.
 *
 *     npx tsx runs/model/prepare.ts DATA WORK [--share 1]
 *
 * DATA is the unpacked folder of real data. Writes WORK/documents.jsonl ({"_id","source","text","queries"}) and prints how
 * many documents each source has, how many of them were dropped and why. --share takes a part of every source.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openCollection } from '../../src/data/index.ts';
import { loadModel } from '../../src/model/index.ts';
import { DocumentPool, makeQueries } from '../../src/teach/index.ts';
import { documentText } from '../../src/text/index.ts';
import { EVALUATION_SETS, folderOf, linesOf } from './evaluation.ts';
import { KnownTexts } from './overlap.ts';
import { SOURCES, type Source, type TrainingDocument } from './sources.ts';

/** Queries of a document at most, of those that it has, and made ones besides. */
const MAX_QUERIES = 6;
const MADE_QUERIES = 2;
/** Shorter texts say nothing that a search could find; longer queries are texts. */
const MIN_WORDS = 5;
const MAX_QUERY_WORDS = 40;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { share: { type: 'string', default: '1' } },
});
const [data, work] = positionals;
if (!data || !work) throw new Error('usage: npx tsx runs/model/prepare.ts DATA WORK [--share 1]');
mkdirSync(work, { recursive: true });

const { documents: known, queries: knownQueries } = await measuredTexts();
const side = await loadModel('bow');
const seen = new KnownTexts();
const all: (TrainingDocument & { readonly source: string })[] = [];
for (const source of SOURCES) {
  const { kept, report } = await documentsOf(source);
  console.log(report);
  all.push(...withMadeQueries(kept).map((document) => ({ ...document, source: source.name })));
}
const asked = all.filter(({ queries }) => queries.length > 0);
const numQueries = asked.reduce((sum, { queries }) => sum + queries.length, 0);
writeFileSync(
  join(work, 'documents.jsonl'),
  linesOf(
    asked.map(({ id, source, queries, ...document }) => ({
      _id: `${source}:${id}`,
      source,
      text: documentText(document),
      queries,
    })),
  ),
);
console.log(`${asked.length} documents with ${numQueries} queries; ${all.length - asked.length} without any left out`);

/** All that stands in sets that the model is measured on. */
async function measuredTexts(): Promise<{ readonly documents: KnownTexts; readonly queries: KnownTexts }> {
  const documents = new KnownTexts();
  const queries = new KnownTexts();
  for (const set of EVALUATION_SETS) {
    const collection = await openCollection(await folderOf(set, data, work), { split: set.split });
    for await (const { text } of collection.documents()) documents.add(text);
    for (const { text = '' } of collection.queries) queries.add(text);
  }
  return { documents, queries };
}

/** Documents of a source that may be trained on. */
async function documentsOf({ name, licence, cap, read }: Source) {
  const found: TrainingDocument[] = [];
  for await (const document of read(data)) found.push(document);
  const wanted = Math.round(cap * Number(values.share));
  const dropped = { short: 0, measured: 0, twice: 0 };
  let numQueries = 0;
  const kept = evenlySpaced(found, wanted).flatMap((document) => {
    const { title, text } = document;
    const reason =
      text.split(/\s+/).length < MIN_WORDS
        ? 'short'
        : known.has(text)
          ? 'measured'
          : seen.has(`${title} ${text}`)
            ? 'twice'
            : undefined;
    if (reason) {
      dropped[reason]++;
      return [];
    }
    seen.add(`${title} ${text}`);
    const queries = [...new Set(document.queries)]
      .filter((query) => query.split(/\s+/).length <= MAX_QUERY_WORDS && !knownQueries.has(query))
      .slice(0, MAX_QUERIES);
    numQueries += queries.length;
    return [{ ...document, queries }];
  });
  const reasons = `${dropped.measured} stand in measured sets, ${dropped.twice} twice, ${dropped.short} too short`;
  const report = `${name} (${licence}): ${kept.length} of ${found.length} documents, ${numQueries} queries; dropped: ${reasons}`;
  return { kept, report };
}

/** Titles, first sentences, definitions and key phrases as queries, besides those that a document has. */
function withMadeQueries(documents: readonly TrainingDocument[]): TrainingDocument[] {
  const pool = new DocumentPool(documents.map(({ id, title, text }) => ({ id, title, text })));
  const options = {
    kinds: ['titles', 'sentences', 'definitions', 'phrases'],
    perDocument: MADE_QUERIES,
    seed: 1,
  } as const;
  const made = new Map<string, string[]>();
  for (const { text, positives } of makeQueries(pool, side, options))
    if (!knownQueries.has(text)) made.set(positives[0], [...(made.get(positives[0]) ?? []), text]);
  return documents.map((document) => {
    const own = made.get(document.id) ?? [];
    return { ...document, queries: [...new Set([...document.queries, ...own])] };
  });
}

function evenlySpaced<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, (_, i) => items[Math.floor((i * items.length) / count)]);
}
