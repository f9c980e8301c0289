/** A folder of pages, one by one. Knows formats by the ends of file names; nothing of models. */
import { open } from 'node:fs/promises';
import { errorCode, InputError, messageOf } from '../../core/index.ts';
import { type BadReason, ReadReport } from '../bad-line.ts';
import { readFailure } from '../byte-source.ts';
import type { ReadOptions, Records } from '../records.ts';
import { decodeHtml, decodeText } from './decode-text.ts';
import { extractHtml, type HtmlOptions } from './html.ts';
import { extractMarkdown } from './markdown.ts';
import { type Extract, type Page, pageUrl, toPage } from './page.ts';
import { extractText } from './plain-text.ts';
import { type Found, walkFolder } from './walk.ts';

/** Formats of pages. */
export type PageFormat = 'html' | 'markdown' | 'text';

/** How to read pages. */
export type PageOptions = Pick<ReadOptions, 'signal' | 'skipBad' | 'onBad'> & {
  /** What stands before the paths in addresses: "https://example.org/docs/". */
  readonly baseUrl?: string | undefined;
  /** Larger files are bad pages: no one reads them, and they are often data with the wrong name. */
  readonly maxPageBytes?: number | undefined;
  /** Which parts of HTML pages count, besides what their own attributes say. */
  readonly html?: HtmlOptions | undefined;
  /** What is wrong with a page for the caller, if anything: it then is a bad page. */
  readonly check?: ((page: Pick<Page, 'id' | 'fields'>) => string | undefined) | undefined;
};

/** Pages to iterate over once, the tally of what was met, and what is not known because it could not be read. */
export type Pages = Records<Page> & {
  /** Ids of pages that could not be read; of folders, ending in `/`. Not the same as not being there. */
  readonly unread: ReadonlySet<string>;
};

/** The largest page read, unless told otherwise. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

const FORMATS: Readonly<Record<string, PageFormat | undefined>> = {
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  md: 'markdown',
  markdown: 'markdown',
  txt: 'text',
};

/** The format of a page, by the end of its name; undefined for files that are not pages. */
export function pageFormat(path: string): PageFormat | undefined {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1].toLowerCase();
  return extension !== undefined && Object.hasOwn(FORMATS, extension) ? FORMATS[extension] : undefined;
}

/**
 * Reads the .html, .htm, .xhtml, .md, .markdown and .txt files of a folder and of the folders in it, in the order of
 * their names. Other files are passed over; pages without text are counted as empty; a page that cannot be read is an
 * error, or counted and left out with `skipBad`.
 */
export function readPages(folder: string, options: PageOptions = {}): Pages {
  const report = new ReadReport();
  const unread = new Set<string>();
  return { report, unread, [Symbol.asyncIterator]: () => iteratePages(folder, { ...options, report, unread }) };
}

/** Options of a reading and what it fills in. */
export type PageReading = PageOptions & { readonly report: ReadReport; readonly unread: Set<string> };

/** Reads pages as `readPages` does, into a report that the caller has. */
export async function* iteratePages(folder: string, reading: PageReading): AsyncGenerator<Page> {
  const { report, signal, baseUrl } = reading;
  for await (const found of filesOf(folder, signal)) {
    const format = found.id.endsWith('/') ? undefined : pageFormat(found.id);
    if (format === undefined && !found.id.endsWith('/')) continue;
    const content = checked(found, await contentOf(found, format, reading), reading);
    if (content instanceof BadPage) reject(found, content, reading);
    else if (content.blocks.length === 0) report.addEmpty(found.id);
    else {
      report.numRead++;
      yield toPage(found.id, pageUrl(found.id, baseUrl), content);
    }
  }
  if (report.numRead + report.numEmpty + report.numBad === 0)
    throw new InputError(`no pages and no corpus.jsonl in ${folder}`, {
      hint: 'a folder holds pages (.html, .md or .txt), or a collection (corpus.jsonl or corpus.jsonl.gz, as in BEIR)',
    });
}

async function* filesOf(folder: string, signal: AbortSignal | undefined): AsyncGenerator<Found> {
  const walk = walkFolder(folder, signal);
  for (;;) {
    const next = await walk.next().catch((cause: unknown) => {
      throw signal?.aborted ? cause : readFailure(folder, cause);
    });
    if (next.done) return;
    // Without the folder itself there is nothing to read, and nothing to leave out.
    if (next.value.failure !== undefined && next.value.id === '') throw readFailure(folder, next.value.failure);
    yield next.value;
  }
}

/** Why a page cannot be used. */
class BadPage {
  readonly reason: BadReason;
  readonly message: string;

  constructor(reason: BadReason, message: string) {
    this.reason = reason;
    this.message = message;
  }
}

/** What the caller takes. */
function checked({ id }: Found, content: Extract | BadPage, { check }: PageOptions): Extract | BadPage {
  const problem = content instanceof BadPage ? undefined : check?.({ id, fields: content.fields });
  return problem === undefined ? content : new BadPage('wrong-type', problem);
}

async function contentOf(
  { path, failure }: Found,
  format: PageFormat | undefined,
  { maxPageBytes, html }: PageOptions,
): Promise<Extract | BadPage> {
  if (failure !== undefined || format === undefined) return unreadable(failure);
  try {
    const bytes = await bytesOf(path, maxPageBytes);
    return bytes instanceof BadPage ? bytes : extractPage(bytes, format, html);
  } catch (cause) {
    return cause instanceof InputError ? new BadPage('bad-weight', cause.message) : unreadable(cause);
  }
}

function unreadable(cause: unknown): BadPage {
  return new BadPage('unreadable', `cannot be read (${errorCode(cause) || messageOf(cause)})`);
}

async function bytesOf(path: string, maxPageBytes = MAX_PAGE_BYTES): Promise<Uint8Array | BadPage> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size > maxPageBytes) return new BadPage('too-large', `${size} bytes, a page has at most ${maxPageBytes}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** What is in the bytes of a page. Any bytes are a page of HTML; Markdown and text hold no zero characters. */
function extractPage(bytes: Uint8Array, format: PageFormat, html: HtmlOptions | undefined): Extract | BadPage {
  if (format === 'html') return extractHtml(decodeHtml(bytes), html);
  const text = decodeText(bytes);
  if (text.includes('\0')) return new BadPage('not-text', 'not text: it holds zero characters');
  return format === 'markdown' ? extractMarkdown(text) : extractText(text);
}

function reject({ id, path }: Found, { reason, message }: BadPage, reading: PageReading): void {
  if (!reading.skipBad)
    throw new InputError(`${path}: ${message}`, {
      hint: 'mend or move the file, or leave bad pages out with --skip-bad',
    });
  reading.unread.add(id);
  const problem = { reason, file: path, line: undefined, message };
  reading.report.add(problem);
  reading.onBad?.(problem);
}
