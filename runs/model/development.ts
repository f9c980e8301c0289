/**
 * One small collection of all development sets, for the curves of a run: queries and documents of each, as many of one set as
 * of the other, so that no set's chance decides.
 *
 *     npx tsx runs/model/development.ts DATA WORK
 *
 * Writes WORK/development. Judged are the documents that were taken along; ids begin with the set's name.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { evenlySpaced } from '../../src/core/index.ts';
import { openCollection } from '../../src/data/index.ts';
import { EVALUATION_SETS, folderOf, linesOf } from './evaluation.ts';

/** Queries and documents of a set. */
const QUERIES = 100;
const DOCUMENTS = 400;
/** Relevant documents that each query brings along at most, so that many find room. */
const RELEVANT = 3;

const [data, work] = process.argv.slice(2);
if (!data || !work) throw new Error('usage: npx tsx runs/model/development.ts DATA WORK');
const corpus: object[] = [];
const queries: object[] = [];
const judgements: string[] = [];
for (const set of EVALUATION_SETS.filter(({ counted }) => !counted)) {
  const collection = await openCollection(await folderOf(set, data, work), { split: set.split });
  const asked = evenlySpaced(collection.queries, QUERIES);
  const wanted = new Set<string>();
  for (const { id } of asked) {
    const best = [...(collection.qrels.get(id) ?? [])].filter(([, grade]) => grade > 0).sort((a, b) => b[1] - a[1]);
    for (const [document] of best.slice(0, RELEVANT)) wanted.add(document);
  }
  const documents: { readonly id: string; readonly title?: string; readonly text?: string }[] = [];
  for await (const document of collection.documents()) documents.push(document);
  const others = documents.filter(({ id }) => !wanted.has(id));
  const taken = [
    ...documents.filter(({ id }) => wanted.has(id)),
    ...evenlySpaced(others, Math.max(0, DOCUMENTS - wanted.size)),
  ];
  const present = new Set(taken.map(({ id }) => id));
  for (const { id } of asked)
    for (const [document, grade] of collection.qrels.get(id) ?? [])
      if (present.has(document)) judgements.push(`${set.name}-${id}\t${set.name}-${document}\t${grade}\n`);
  corpus.push(...taken.map(({ id, title = '', text = '' }) => ({ _id: `${set.name}-${id}`, title, text })));
  queries.push(...asked.map(({ id, text }) => ({ _id: `${set.name}-${id}`, text })));
  console.log(`${set.name}: ${asked.length} queries, ${taken.length} documents, ${wanted.size} of them relevant`);
}
const folder = join(work, 'development');
mkdirSync(join(folder, 'qrels'), { recursive: true });
writeFileSync(join(folder, 'corpus.jsonl'), linesOf(corpus));
writeFileSync(join(folder, 'queries.jsonl'), linesOf(queries));
writeFileSync(join(folder, 'qrels/dev.tsv'), `query-id\tcorpus-id\tscore\n${judgements.join('')}`);
