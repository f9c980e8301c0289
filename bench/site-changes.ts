/**
 * Which files of a built site are new where one page has changed: what browsers that have been there fetch again. No speed, but
 * counts, which are the same on every machine.
 *
 *     npx tsx bench/site-changes.ts INDEX [--pages 5] [--json results.json]
 *
 * INDEX is that of a site's pages (bench/site-index.ts). Pages are drawn with a fixed seed and changed in memory, each by itself:
 * a part with some other words, a part more (that of another page), a part less, a page more, a page less. Counted are the files
 * of postings that the new build has and the old one has not; beside them how many must be new, those with a term of a part that
 * came, went or changed; and how many were sections numbered without gaps.
 */
import { parseArgs } from 'node:util';
import { sectionNumbers } from '../src/browser/index.ts';
import { type BlockTable, readBlockTable } from '../src/browser/posting-blocks.ts';
import { ByteReader, Random, SiteError } from '../src/core/index.ts';
import { openIndex } from '../src/engines/index.ts';
import {
  bytesSource,
  collectCodes,
  rowAt,
  SegmentReader,
  type SparseCodes,
  writeSparseSegment,
  writtenBytes,
} from '../src/search/index.ts';
import type { SiteContent, SitePage } from '../src/site/index.ts';
import { groupSizes } from '../src/site/page-groups.ts';
import { type PostingFiles, postingFiles } from '../src/site/posting-files.ts';
import { contentOfIndex } from '../test/site/everyday-site.ts';
import { circumstances, describe } from './lib/machine.ts';
import { type Part, printPart, type Row, writeResults } from './lib/report.ts';
import { spread } from './lib/statistics.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { pages: { type: 'string', default: '5' }, json: { type: 'string' } },
});
if (positionals[0] === undefined) throw new Error('usage: npx tsx bench/site-changes.ts INDEX [--pages 5]');
const numPages = Number(values.pages);
/** Terms that a changed part gets from another, and as many that it loses. */
const CHANGED_TERMS = 10;

/** A page and the codes of its parts. */
type Coded = { readonly page: SitePage; readonly codes: readonly SparseCodes[] };

function codedPages({ pages, segment }: SiteContent): Coded[] {
  const reader = new SegmentReader(segment);
  const { directory } = reader;
  const terms: number[][] = Array.from({ length: directory.numDocs }, () => []);
  const codes: number[][] = terms.map(() => []);
  const rows = Array.from({ length: directory.numTerms }, (_, i) => rowAt(directory, i));
  for (const row of rows.sort((a, b) => a.term - b.term))
    for (const posting of reader.postings(row)) {
      terms[posting >>> 8].push(row.term);
      codes[posting >>> 8].push(posting & 255);
    }
  let at = 0;
  return pages.map((page) => ({
    page,
    codes: page.parts.map(() => ({ terms: Uint32Array.from(terms[at]), codes: Uint8Array.from(codes[at++]) })),
  }));
}

/** Terms keep their numbers: their order is of no account here. */
const renumbered = Uint32Array.from({ length: 2 ** 17 }, (_, term) => term);

function build(coded: readonly Coded[], numbering: Numbering): PostingFiles {
  const all = collectCodes(coded.flatMap(({ codes }) => codes));
  const bytes = writtenBytes((sink) => writeSparseSegment(all, sink));
  return postingFiles(bytesSource(bytes, 'postings'), { numbers: NUMBERINGS[numbering](coded), renumbered });
}

type Numbering = 'with room' | 'without gaps';

const NUMBERINGS: Readonly<Record<Numbering, (coded: readonly Coded[]) => Uint32Array>> = {
  'with room': (coded) =>
    sectionNumbers(
      coded.map(({ codes }) => codes.length),
      groupSizes(coded.map(({ page }) => page)),
    ).numbers,
  'without gaps': (coded) => Uint32Array.from({ length: numPartsOf(coded) }, (_, i) => i),
};

const numPartsOf = (coded: readonly Coded[]): number => coded.reduce((sum, { codes }) => sum + codes.length, 0);

/** Files that hold the postings of terms that parts of these pages have and others have not. */
function filesToChange(blocks: BlockTable, was: readonly Coded[], is: readonly Coded[]): number {
  const all = (coded: readonly Coded[]) => coded.flatMap(({ codes }) => codes);
  const keyOf = ({ terms, codes }: SparseCodes): string => `${terms.join()};${codes.join()}`;
  const gone = new Map(all(was).map((codes) => [keyOf(codes), codes]));
  const fresh = all(is).filter((codes) => !gone.delete(keyOf(codes)));
  const files = new Set<string>();
  for (const { terms } of [...fresh, ...gone.values()])
    for (const term of terms) {
      const block = blocks.blockOf(term);
      if (block !== undefined) files.add(blocks.pieceOf(block).file);
    }
  return files.size;
}

/** Other words: the last terms go, some of another part come. */
function otherWords({ terms, codes }: SparseCodes, from: SparseCodes): SparseCodes {
  const kept = new Map(Array.from(terms.slice(0, -CHANGED_TERMS), (term, i) => [term, codes[i]]));
  let numAdded = 0;
  for (const [i, term] of from.terms.entries())
    if (!kept.has(term) && numAdded++ < CHANGED_TERMS) kept.set(term, from.codes[i]);
  const sorted = [...kept].sort(([a], [b]) => a - b);
  return { terms: Uint32Array.from(sorted, ([term]) => term), codes: Uint8Array.from(sorted, ([, code]) => code) };
}

/** One page changed, as the pages in its place. */
const CHANGES: Readonly<Record<string, (own: Coded, other: Coded) => Coded[]>> = {
  'a part with other words': ({ page, codes }, other) => [
    { page, codes: [otherWords(codes[0], other.codes[0]), ...codes.slice(1)] },
  ],
  'a part more': ({ page, codes }, other) => [
    { page: { ...page, parts: [...page.parts, other.page.parts[0]] }, codes: [...codes, other.codes[0]] },
  ],
  'a part less': ({ page, codes }) =>
    codes.length > 1 ? [{ page: { ...page, parts: page.parts.slice(0, -1) }, codes: codes.slice(0, -1) }] : [],
  'a page more': (own, { page, codes }) => [own, { page: { ...page, id: `${own.page.id}-new` }, codes }],
  'a page less': () => [],
};

const index = await openIndex(positionals[0], { mode: 'lean' });
const where = await circumstances();
console.log(describe(where));
const coded = codedPages(contentOfIndex(index));
await index.close();
const before = { 'with room': build(coded, 'with room'), 'without gaps': build(coded, 'without gaps') };
const blocks = readBlockTable(new ByteReader(before['with room'].table, 'blocks', (message) => new SiteError(message)));
const random = new Random(5);
const draw = (): number => Math.floor(random.uniform() * coded.length);
const drawn = Array.from({ length: numPages }, () => [draw(), draw()] as const);
const rows: Row[] = [];
for (const [name, change] of Object.entries(CHANGES)) {
  const counts = { 'with room': [] as number[], 'without gaps': [] as number[], least: [] as number[] };
  for (const [own, other] of drawn) {
    const fresh = change(coded[own], coded[other]);
    const changed = [...coded.slice(0, own), ...fresh, ...coded.slice(own + 1)];
    counts.least.push(filesToChange(blocks, [coded[own]], fresh));
    for (const numbering of ['with room', 'without gaps'] as const) {
      const { files } = build(changed, numbering);
      counts[numbering].push([...files.keys()].filter((file) => !before[numbering].files.has(file)).length);
    }
  }
  rows.push({ name, value: spread(counts['with room']), unit: 'new' });
  rows.push({ name: '  with a term of what has changed', value: spread(counts.least), unit: '' });
  rows.push({ name: '  numbered without gaps', value: spread(counts['without gaps']), unit: 'new' });
}
const bytesOf = ({ files }: PostingFiles): number => [...files.values()].reduce((sum, { length }) => sum + length, 0);
rows.push({
  name: 'bytes of postings, of those without gaps',
  value: spread([bytesOf(before['with room']) / bytesOf(before['without gaps'])]),
  unit: '×',
});
const title = `${coded.length} pages, ${before['with room'].files.size} files of postings; ${numPages} pages changed, one at a time`;
const part: Part = { title, rows, claims: [] };
printPart(part);
if (values.json) writeResults(values.json, where, [part]);
