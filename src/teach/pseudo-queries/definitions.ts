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

/** A question for each definition; the document without that subject answers. What defines it stays: it is the answer. */
export const definitionQueries: MakeQueries = ({ title, text }) =>
  definitionsIn(text).map(({ subject, verb, begin }) => ({
    query: `what ${verb === 'are' ? 'are' : 'is'} ${withoutCapital(oneLine(subject))}`,
    text: () =>
      documentText({ title, text: `${text.slice(0, begin)}${text.slice(begin + subject.length).trimStart()}` }),
  }));

type Definition = { readonly subject: string; readonly verb: string; readonly begin: number };

/** The first definitions of a text, with the place where the subject stands. */
function definitionsIn(text: string): Definition[] {
  return Array.from(text.matchAll(DEFINITION), ({ 0: whole, 1: subject, 2: verb, index }) => ({
    subject,
    verb,
    begin: index + whole.indexOf(subject), // no letter stands before it
  }))
    .filter(({ subject }) => !POINTERS.test(oneLine(subject)))
    .slice(0, MAX_QUERIES);
}

/** A capital that only begins the sentence goes: "An index" → "an index"; names and acronyms stay. */
function withoutCapital(subject: string): string {
  return /^(?:An?|The)\s/.test(subject) ? subject[0].toLowerCase() + subject.slice(1) : subject;
}
