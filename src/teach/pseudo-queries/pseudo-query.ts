/**
 * Queries for collections that have none, made of the documents' own words. A query that stands in its document word for
 * word teaches only to find words, so what it was made of is left out of the text that answers it:
 *
 *     query "Installing packages", text "Use npm ci …"          of a document with that title
 *
 * Only key phrases stay where they are: they are chosen because they stand there often, and without them a text would be
 * about something else. Whatever else a text says of its title or subject stays, too.
 *
 * Lee, Chang, Toutanova, ACL 2019, https://arxiv.org/abs/1906.00300, section 6.1, train on sentences taken out of their
 * passages (the inverse cloze task).
 */
import type { Document } from '../../data/index.ts';

/** A query, and the text that answers it. */
export type PseudoQuery = {
  readonly query: string;
  /** Made when it is asked for: a document may have thousands of headings, of which few become queries. */
  text(): string;
};

/** Makes queries of a document; none where it has nothing of that kind. */
export type MakeQueries = (document: Document) => readonly PseudoQuery[];

/** Words of a text, however many spaces are between. */
export function numWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** A text that is left of another must say something by itself. */
export const MIN_TEXT_WORDS = 12;

/** Between page and headings in the titles of pieces: "Guide › Setup › Install". */
export const PATH = ' › ';

/** White space of any kind as single spaces. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
