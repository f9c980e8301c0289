/**
 * Pages in parts, as a writer sees them: what a page that is added anew leaves over of the one that was there. Knows
 * nothing of where documents are kept.
 */
import { InputError } from '../core/index.ts';
import type { NewDocument } from './segment-parts.ts';

/** Some documents of a writer: a segment, or those that wait to become one. */
export type PageHolder = {
  /** The page of a document, its own id where it is a whole one; undefined where it is not among these. */
  pageOf(id: string): string | undefined;
  /** Ids of the parts of a page, in their order; of a whole document its own. */
  partsOf(page: string): string[];
};

/** Ids of all parts of a page. */
export function allParts(page: string, holders: readonly PageHolder[]): string[] {
  return holders.flatMap((holder) => holder.partsOf(page));
}

/**
 * Parts that go when these documents come: those of the same pages that none of them replaces. InputError where one has
 * the id of another page's part: it would tear a hole into that page.
 */
export function leftoverParts(documents: readonly NewDocument[], holders: readonly PageHolder[]): string[] {
  const pages = new Map(documents.map(({ document }) => [document.id, pageOf(document)]));
  for (const { document } of documents) {
    const there = [pages.get(document.id), ...holders.map((holder) => holder.pageOf(document.id))];
    const other = there.find((page) => page !== undefined && page !== pageOf(document));
    if (other !== undefined) throw twoPages(document.id, pageOf(document), other);
  }
  return [...new Set(pages.values())].flatMap((page) => allParts(page, holders)).filter((id) => !pages.has(id));
}

function pageOf({ id, page = id }: NewDocument['document']): string {
  return page;
}

function twoPages(id: string, page: string, other: string): InputError {
  const what = (of: string): string => (of === id ? 'a document' : `a part of ${JSON.stringify(of)}`);
  return new InputError(`${JSON.stringify(id)} is the id of ${what(other)} and of ${what(page)}`, {
    hint: 'parts are named after their document, id#0, id#1, …: give one of the two another id, or delete one first',
  });
}
