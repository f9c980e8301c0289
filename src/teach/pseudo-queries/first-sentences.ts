/** First sentences as queries: in most writing they say what the rest is about. */
import { documentText } from '../../text/index.ts';
import { type MakeQueries, MIN_TEXT_WORDS, numWords, oneLine } from './pseudo-query.ts';

const MIN_WORDS = 5;
const MAX_WORDS = 40;
/** A mark, perhaps a closing quote, white space, and a beginning that is no small letter. */
const END = /[.!?]["'”’)]?(?=\s+[^\p{Ll}])/u;

/** The first sentence; title and rest answer. */
export const firstSentenceQueries: MakeQueries = ({ title = '', text }) => {
  const match = END.exec(text);
  if (!match) return [];
  const end = match.index + match[0].length;
  const query = oneLine(text.slice(0, end));
  const rest = text.slice(end).trim();
  if (numWords(query) < MIN_WORDS || numWords(query) > MAX_WORDS || numWords(rest) < MIN_TEXT_WORDS) return [];
  return [{ query, text: () => documentText({ title, text: rest }) }];
};
