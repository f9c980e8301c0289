/**
 * Lists for training: documents in groups of like ones, with all their queries. A dense teacher says what is alike, and reads
 * every text once; what it has read stays in WORK/teachers for the run that it scores for.
 *
 *     npx tsx runs/model/groups.ts WORK --teacher dense:gte-small,pooling=mean,max-length=128 [--passes 3] [--size 6]
 *
 * WORK has documents.jsonl (runs/model/prepare.ts). Writes WORK/groups.jsonl: {"query", "docs", "moreQueries"}, every document
 * once in each pass, in other groups. The same call goes on where one was stopped.
 */
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { derivedSeed, Random } from '../../src/core/index.ts';
import { groupDocuments, openScorer, parseTeacher } from '../../src/teach/index.ts';
import { linesOf } from './evaluation.ts';
import { progressLine } from './progress.ts';
import { rows } from './sources.ts';

/** Documents among which like ones are looked for. */
const AMONG = 3_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    teacher: { type: 'string' },
    passes: { type: 'string', default: '3' },
    size: { type: 'string', default: '6' },
  },
});
const [work] = positionals;
const [numPasses, size] = [Number(values.passes), Number(values.size)];
if (!work || !values.teacher || !(numPasses >= 1) || !(size >= 2))
  throw new Error('usage: npx tsx runs/model/groups.ts WORK --teacher NAME');

type Row = { readonly text: string; readonly queries: readonly string[] };
const documents: Row[] = [];
for await (const row of rows<Row>(join(work, 'documents.jsonl'))) documents.push(row);

const teacher = await openScorer(parseTeacher(values.teacher), { folder: join(work, 'teachers') });
try {
  const queries = documents.flatMap((document) => document.queries);
  await teacher.learnQueries(queries, { onProgress: progressLine('queries', new Set(queries).size) });
  const texts = documents.map(({ text }) => text);
  const alike = await teacher.likeness(texts, { onProgress: progressLine('documents', new Set(texts).size) });
  const output = join(work, 'groups.jsonl');
  const partial = `${output}.partial`;
  writeFileSync(partial, '');
  for (let pass = 0; pass < numPasses; pass++) {
    const options = { size, among: AMONG, seed: derivedSeed(1, pass) };
    const groups = groupDocuments(documents.length, alike, options).filter(({ length }) => length === options.size);
    const random = new Random(derivedSeed(2, pass));
    appendFileSync(
      partial,
      linesOf(
        groups.map((group) =>
          lineOf(
            group.map((i) => documents[i]),
            random,
          ),
        ),
      ),
    );
    console.log(`pass ${pass + 1}: ${groups.length} groups`);
  }
  renameSync(partial, output);
} finally {
  await teacher.close();
}

/** One query of the first document that no other of the group is known to answer, if it has one, and all others of the group. */
function lineOf(group: readonly Row[], random: Random): object {
  const [first, ...others] = group;
  const taken = new Set(others.flatMap(({ queries }) => queries));
  const own = first.queries.filter((query) => !taken.has(query));
  const { queries } = own.length > 0 ? { queries: own } : first;
  const query = queries[random.below(queries.length)];
  const moreQueries = [...new Set(group.flatMap(({ queries }) => queries))].filter((other) => other !== query);
  return { query, docs: group.map(({ text }) => text), moreQueries };
}
