/** Titles as queries: what an author thinks that a document is about, in the words of somebody who looks for it. */
import { type MakeQueries, MIN_TEXT_WORDS, numWords, oneLine } from './pseudo-query.ts';

/** Longer ones are sentences, and no longer titles. */
const MAX_WORDS = 30;

/** The title; the text without it answers. */
export const titleQueries: MakeQueries = ({ title = '', text }) => {
  const query = oneLine(title);
  if (query === '' || numWords(query) > MAX_WORDS || numWords(text) < MIN_TEXT_WORDS) return [];
  return [{ query, text: () => text }];
};
