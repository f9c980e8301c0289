/** Titles as queries: what an author thinks that a document is about, in the words of somebody who looks for it. */
import { documentText } from '../../text/index.ts';
import { type MakeQueries, MIN_TEXT_WORDS, numWords, oneLine, PATH } from './pseudo-query.ts';

/** Longer ones are sentences, and no longer titles. */
const MAX_WORDS = 30;

/** The piece that a page begins with. */
const FIRST_PIECE = /#0$/;

/** The title; the text without it answers. Of the pieces of a page only the first is asked for by the page's title. */
export const titleQueries: MakeQueries = ({ id, title = '', text }) => {
  const [page, ...headings] = title.split(PATH);
  if (headings.length > 0 && !FIRST_PIECE.test(id)) return [];
  const query = oneLine(page);
  if (query === '' || numWords(query) > MAX_WORDS || numWords(text) < MIN_TEXT_WORDS) return [];
  return [{ query, text: () => documentText({ title: headings.join(PATH), text }) }];
};
