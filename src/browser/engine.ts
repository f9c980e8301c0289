/**
 * Searches a site: query to terms, terms to postings, postings to the best pages, pages to what is shown. Runs in a worker,
 * in the page itself, and in Node where a build measures. Scores and order are those of the index in Node, to the bit: the
 * kernel is the same, and the numbers that it adds are.
 */
import { UsageError } from '../core/index.ts';
import {
  type Bitmap,
  evaluateFilter,
  groupByPage,
  intersect,
  parseFilter,
  SparseSearcher,
  type TermProduct,
} from '../search/index.ts';
import { type Highlight, type Snippet, snippetMaker } from '../text/index.ts';
import type { SiteManifest } from './manifest.ts';
import { unpack } from './packed.ts';
import { type PageTable, readPageTable } from './page-table.ts';
import { PostingStore, segmentOf, type TermLists } from './posting-store.ts';
import { type HostRequest, readFile, readPieces, type SiteHost } from './site-host.ts';
import { parsePrefix, parseText, type SiteQuery } from './site-query.ts';
import { readStart, type SiteStart } from './start-file.ts';
import { piecesOfText, readTextRecord, type SectionPiece, type SectionText } from './text-record.ts';
import type { SiteAnswer, SiteHit, SiteProduct, SiteSearchOptions, SiteSection, SiteSnippet } from './types.ts';

/** An answer but for what only the page knows. */
export type EngineAnswer = Pick<SiteAnswer, 'terms' | 'hits' | 'bytes'>;

/** Options as they cross to a worker; the signal stays in the page. */
export type EngineOptions = Omit<SiteSearchOptions, 'signal'>;

const DEFAULT_PAGES = 10;
/** Pages of one answer at most: each costs a request. */
const MAX_PAGES = 100;
/** Sections that are shown of a page. */
const MAX_SECTIONS = 3;
/** Sections below this share of the page's score have another subject. */
const MIN_SECTION_SHARE = 0.5;
/** Sections looked at to find those. */
const MAX_SECTION_HITS = 1000;
/** Texts that are kept for the next query. */
const MAX_TEXTS = 2000;

/** Searches one site. */
export class SiteEngine {
  readonly #host: SiteHost;
  readonly #manifest: SiteManifest;
  readonly #start: SiteStart;
  readonly #postings: PostingStore;
  readonly #searcher: SparseSearcher;
  readonly #snippet: ReturnType<typeof snippetMaker>;
  readonly #texts = new Map<number, SectionText>();
  #pages: Promise<PageTable> | undefined;
  #numSegments = 0;
  #turn: Promise<unknown> = Promise.resolve();

  /** Fetches what is needed before the first query. */
  static async open(host: SiteHost, manifest: SiteManifest, request: HostRequest): Promise<SiteEngine> {
    const { name } = manifest.start;
    const read = async (piece: Uint8Array): Promise<SiteStart> => readStart(await unpack(piece, name), name);
    const start = await readFile(host, name, { request, read });
    return new SiteEngine(host, manifest, start);
  }

  private constructor(host: SiteHost, manifest: SiteManifest, start: SiteStart) {
    this.#host = host;
    this.#manifest = manifest;
    this.#start = start;
    this.#postings = new PostingStore(host, start.blocks);
    this.#searcher = new SparseSearcher({ scale: manifest.scale });
    this.#snippet = snippetMaker(start.side.tokenizer);
  }

  /** The same site for another visitor: nothing but the start has been fetched. */
  forVisitor(host: SiteHost): SiteEngine {
    return new SiteEngine(host, this.#manifest, this.#start);
  }

  /** What is missing here, as sentences for people. */
  get degraded(): string[] {
    const messages: string[] = [];
    if (this.#searcher.kernel !== 'wasm')
      messages.push(
        "WebAssembly is missing or not permitted here (a Content-Security-Policy permits it with 'wasm-unsafe-eval'): " +
          'search runs in JavaScript, with the same results',
      );
    if (this.#host.hasRanges === false)
      messages.push('this host does not give ranges of files: whole files are fetched, which costs more bytes');
    return messages;
  }

  /** The best pages. */
  async search(text: string, options: EngineOptions, signal?: AbortSignal): Promise<EngineAnswer> {
    const { k = DEFAULT_PAGES, prefix = false } = options;
    if (!Number.isInteger(k) || k < 1 || k > MAX_PAGES)
      throw new UsageError(`k must be a whole number from 1 to ${MAX_PAGES}, got ${k}`);
    let bytes = 0;
    const request = { signal, count: (more: number) => (bytes += more) };
    const query = (prefix ? parsePrefix : parseText)(this.#start.side, text);
    const coming = this.#pageTable(request);
    const [pages, lists] = await Promise.all([coming, this.#postings.load(query.vector.terms, coming, request)]);
    signal?.throwIfAborted();
    const found = await this.#inTurn(() => this.#find(query, { pages, lists, k, filter: options.filter }));
    const hits = await this.#shown(found, pages, { options, request });
    return { terms: query.terms, hits, bytes };
  }

  /** Pages and labels come with the first query: they are not needed to show a search box. */
  #pageTable(request: HostRequest): Promise<PageTable> {
    const { name } = this.#manifest.pages;
    const read = async (piece: Uint8Array): Promise<PageTable> => readPageTable(await unpack(piece, name), name);
    this.#pages ??= readFile(this.#host, name, { request: { count: request.count }, read });
    const coming = this.#pages;
    coming.catch(() => {
      if (this.#pages === coming) this.#pages = undefined; // the next query tries again
    });
    return coming;
  }

  /** Searches have the one segment of the searcher one after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #find({ vector }: SiteQuery, { pages, lists, k, filter }: Finding): Promise<FoundPage[]> {
    const { numSections: numDocs } = this.#manifest;
    const segment = {
      key: String(this.#numSegments++),
      source: segmentOf(lists, numDocs),
      numDocs,
      deleted: undefined,
    };
    this.#searcher.setSegments([segment]);
    const permitted = filter && evaluateFilter(parseFilter(filter, schemaOf(pages)), pages);
    const search = (wanted: number, sections: Bitmap | undefined) =>
      this.#searcher.search(vector, { k: wanted, ...(sections ? { filter: [sections] } : {}) });
    const { hits } = await groupByPage({
      k,
      search: (wanted) => search(wanted, permitted),
      pageOf: (section) => String(pages.pageOf(section)),
    });
    const numbers = new Set(hits.map(({ docId }) => pages.pageOf(docId)));
    const own = pages.sectionsOf((page) => numbers.has(page));
    const { docIds, scores } = search(MAX_SECTION_HITS, permitted ? intersect(own, permitted) : own);
    const standing = (docId: number, score: number): FoundSection => ({
      docId,
      score,
      products: this.#searcher.standing(vector, docId, { rank: false }).products,
    });
    return hits.map(({ docId, score }) => {
      const least = MIN_SECTION_SHARE * score;
      const places = Array.from(docIds.keys()).filter(
        (i) => pages.pageOf(docIds[i]) === pages.pageOf(docId) && scores[i] >= least,
      );
      const sections = places.slice(0, MAX_SECTIONS).map((i) => standing(docIds[i], scores[i]));
      return { best: standing(docId, score), sections };
    });
  }

  async #shown(
    found: readonly FoundPage[],
    pages: PageTable,
    { options, request }: { options: EngineOptions; request: HostRequest },
  ): Promise<SiteHit[]> {
    const wanted = found.flatMap(({ best, sections }) => [best, ...sections]).map(({ docId }) => docId);
    const texts = await this.#textsOf([...new Set(wanted)], pages, request);
    const show = ({ docId, score, products }: FoundSection): ShownSection => {
      const text = textIn(texts, docId);
      return { score, ...this.#bestPiece(text, products), url: text.url };
    };
    return found.map(({ best, sections }, i) => {
      const text = textIn(texts, best.docId);
      const { score, products } = best;
      return {
        rank: i + 1,
        id: text.page,
        url: text.url,
        title: text.pageTitle,
        score,
        labels: pages.labelsOf(pages.pageOf(best.docId)),
        snippet: this.#snippetOf(text, products).snippet,
        sections: headed(sections.map(show)),
        ...(options.explain ? { explain: this.#spelt(best.products) } : {}),
      };
    });
  }

  #spelt(products: readonly TermProduct[]): SiteProduct[] {
    const { tokens } = this.#start.side.tokenizer.vocabulary;
    return products
      .map(({ term, ...rest }) => ({ token: tokens[Number(term)], ...rest }))
      .sort((a, b) => b.product - a.product);
  }

  /** Of the sections that were found as one, that whose words have most of the score; of equals the first. */
  #bestPiece(
    text: SectionText,
    products: readonly TermProduct[],
  ): Pick<ShownSection, 'heading' | 'anchor' | 'snippet'> {
    const pieces = text.places.length > 0 ? piecesOfText(text) : [];
    const [first = text, ...others] = pieces;
    let [best, found] = [first, this.#snippetOf(first, products)];
    for (const piece of others) {
      const other = this.#snippetOf(piece, products);
      if (other.weight > found.weight) [best, found] = [piece, other];
    }
    return { heading: best.heading, anchor: best.anchor, snippet: found.snippet };
  }

  /** The passage to show, and how much of the score its text and heading have words for. */
  #snippetOf(
    { text, heading }: SectionPiece,
    products: readonly TermProduct[],
  ): { snippet: SiteSnippet; weight: number } {
    const terms = products.map(({ term, product }) => ({ term: Number(term), weight: product }));
    const { text: passage, highlights, matched, isCut }: Snippet = this.#snippet(text, { terms, title: heading });
    const marks = highlights.map(({ start, end }: Highlight) => [start, end] as const);
    const own = { text: passage, marks, ...(isCut.before || isCut.after ? { isCut } : {}) };
    return { snippet: own, weight: matched.reduce((sum, { weight }) => sum + weight, 0) };
  }

  async #textsOf(
    sections: readonly number[],
    pages: PageTable,
    request: HostRequest,
  ): Promise<ReadonlyMap<number, SectionText>> {
    const texts = new Map<number, SectionText>();
    const missing: number[] = [];
    for (const section of sections) {
      const known = this.#texts.get(section);
      if (known) texts.set(section, known);
      else missing.push(section);
    }
    const pieces = missing.map((section) => pages.recordOf(section));
    const found = await readPieces(this.#host, pieces, {
      request,
      read: (record, { file, offset }) => readTextRecord(record, `${file}, byte ${offset},`),
    });
    missing.forEach((section, i) => {
      texts.set(section, found[i]);
      this.#texts.set(section, found[i]);
    });
    for (const [oldest] of this.#texts) {
      if (this.#texts.size <= MAX_TEXTS) break;
      this.#texts.delete(oldest);
    }
    return texts;
  }
}

type Finding = {
  readonly pages: PageTable;
  readonly lists: TermLists;
  readonly k: number;
  readonly filter: EngineOptions['filter'];
};

type FoundSection = { readonly docId: number; readonly score: number; readonly products: readonly TermProduct[] };
type FoundPage = { readonly best: FoundSection; readonly sections: readonly FoundSection[] };
type ShownSection = Pick<SectionText, 'heading' | 'anchor' | 'url'> & {
  readonly score: number;
  readonly snippet: SiteSnippet;
};

function schemaOf({ labelNames }: PageTable): Record<string, 'keyword'> {
  return Object.fromEntries(labelNames.map((name) => [name, 'keyword']));
}

function textIn(texts: ReadonlyMap<number, SectionText>, section: number): SectionText {
  const text = texts.get(section);
  if (text) return text;
  throw new Error(`bug: section ${section} has no text`);
}

/** Sections that have a heading of their own; of several parts under one heading the best. */
function headed(sections: readonly ShownSection[]): SiteSection[] {
  const byHeading = new Map<string, SiteSection>();
  for (const { score, heading, anchor, url, snippet } of sections) {
    if (heading !== '' && !byHeading.has(heading))
      byHeading.set(heading, { title: heading, url: `${url}${anchor}`, score, snippet });
  }
  return [...byHeading.values()];
}
