/** Questions that a text answers by a definition: "An inverted index is a …" answers "what is an inverted index". */
import { documentText } from '../../text/index.ts';
import { type MakeQueries, oneLine } from './pseudo-query.ts';

/** Subject of at most six words at the beginning of a sentence, then a verb that defines. */
const DEFINITION =
  /(?:^|[.!?]\s+|\n\s*)((?:(?:An?|The)\s+)?\p{L}[\p{L}\d'’-]*(?:\s+[\p{L}\d'’-]+){0,5}?)\s+(?:\([^)]{1,40}\)\s+)?(is|are|refers? to|means|describes?|denotes?)\s+(?:an?\s|the\s|any\s|one of\s|\p{Ll})/gu;
/** Subjects that name nothing. */
const POINTERS =
  /^(?:what|who|where|when|how|why|it|this|that|these|those|there|here|he|she|they|we|you|i|which|one|each|both|all|some|such|if|but|and|so|as|for|in|on|at|the (?:following|same|first|second|latter|former|other|rest|result|reason|goal|idea|aim)|\w+ever)\b/i;
const MAX_QUERIES = 2;

/** A question for each definition; the document as it is answers. */
export const definitionQueries: MakeQueries = ({ title, text }) => {
  const subjects = Array.from(text.matchAll(DEFINITION), ([, subject, verb]) => ({ subject: oneLine(subject), verb }));
  return subjects
    .filter(({ subject }) => !POINTERS.test(subject))
    .slice(0, MAX_QUERIES)
    .map(({ subject, verb }) => ({
      query: `what ${verb === 'are' ? 'are' : 'is'} ${withoutCapital(subject)}`,
      text: () => documentText({ title, text }),
    }));
};

/** A capital that only begins the sentence goes: "An index" → "an index"; names and acronyms stay. */
function withoutCapital(subject: string): string {
  return /^(?:An?|The)\s/.test(subject) ? subject[0].toLowerCase() + subject.slice(1) : subject;
}
