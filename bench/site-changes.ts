/**
 * Which files of a built site are new where one page has changed: what browsers that have been there fetch again. No speed, but
 * counts, which are the same on every machine.
 *
 *     npx tsx bench/site-changes.ts INDEX [--pages 5] [--json results.json]
 *
 * INDEX is that of a site's pages (bench/site-index.ts). Pages are drawn with a fixed seed and changed in memory, each by itself:
 * a part with some other words, a part more (that of another page), a part less, a page more, a page less. Counted are the files
 * of postings that the new build has and the old one has not, and beside them how many must be new: files with a term of a part
 * that came, went or changed.
 */
import { parseArgs } from 'node:util';
import { unpack } from '../src/browser/packed.ts';
import { readStart, type SiteStart } from '../src/browser/start-file.ts';
import { Random } from '../src/core/index.ts';
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
import { readScripts, type SiteContent, type SitePage, siteFiles } from '../src/site/index.ts';
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

type Built = ReadonlyMap<string, Uint8Array>;

function build(content: SiteContent, coded: readonly Coded[], scripts: Awaited<ReturnType<typeof readScripts>>): Built {
  const all = collectCodes(coded.flatMap(({ codes }) => codes));
  const segment = bytesSource(
    writtenBytes((sink) => writeSparseSegment(all, sink)),
    'postings',
  );
  const pages = coded.map(({ page }) => page);
  return siteFiles({ ...content, pages, segment }, scripts).files;
}

/** Files that hold the postings of terms that parts of these pages have and others have not. */
function filesToChange(start: SiteStart, was: readonly Coded[], is: readonly Coded[]): number {
  const known = new Map<string, SparseCodes>();
  const all = (coded: readonly Coded[]) => coded.flatMap(({ codes }) => codes);
  const keyOf = ({ terms, codes }: SparseCodes): string => `${terms.join()};${codes.join()}`;
  for (const codes of all(was)) known.set(keyOf(codes), codes);
  const fresh = all(is).filter((codes) => !known.delete(keyOf(codes)));
  const files = new Set<string>();
  for (const { terms } of [...fresh, ...known.values()])
    for (const term of terms) {
      const token = content.side.tokenizer.vocabulary.tokens[term];
      const block = start.blocks.blockOf(start.side.tokenizer.vocabulary.idOf(token) ?? -1);
      if (block !== undefined) files.add(start.blocks.pieceOf(block).file);
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
const content = contentOfIndex(index);
await index.close();
const scripts = await readScripts();
const coded = codedPages(content);
const before = build(content, coded, scripts);
const ofKind = (names: Built, folder: string): string[] => [...names.keys()].filter((name) => name.startsWith(folder));
const [[startName, startBytes]] = [...before].filter(([name]) => name.startsWith('start-'));
const start = readStart(await unpack(startBytes, startName), startName);
const random = new Random(5);
const draw = (): number => Math.floor(random.uniform() * coded.length);
const drawn = Array.from({ length: numPages }, () => [draw(), draw()] as const);
const rows: Row[] = [];
for (const [name, change] of Object.entries(CHANGES)) {
  const counts = { p: [] as number[], t: [] as number[], least: [] as number[] };
  for (const [own, other] of drawn) {
    const fresh = change(coded[own], coded[other]);
    const changed = [...coded.slice(0, own), ...fresh, ...coded.slice(own + 1)];
    counts.least.push(filesToChange(start, [coded[own]], fresh));
    const after = build(content, changed, scripts);
    for (const kind of ['p', 't'] as const)
      counts[kind].push(ofKind(after, `${kind}/`).filter((file) => !before.has(file)).length);
  }
  rows.push({ name: `${name}: files of postings`, value: spread(counts.p), unit: 'new' });
  rows.push({ name: '  those with a term of what has changed', value: spread(counts.least), unit: '' });
  rows.push({ name: `${name}: files of texts`, value: spread(counts.t), unit: 'new' });
}
const [numPostingFiles, numTextFiles] = [ofKind(before, 'p/').length, ofKind(before, 't/').length];
const title = `${coded.length} pages: ${numPostingFiles} files of postings, ${numTextFiles} of texts; ${numPages} pages changed, one at a time`;
const part: Part = { title, rows, claims: [] };
printPart(part);
if (values.json) writeResults(values.json, where, [part]);
