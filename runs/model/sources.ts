/**
 * The texts that the shipped model is trained on: only those whose licences allow it, each with its own. What the model is
 * measured on or tuned by is not among them (evaluation.ts).
 */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A document, and queries that it is known to answer. */
export type TrainingDocument = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly queries: readonly string[];
};

/** Where training documents come from. */
export type Source = {
  readonly name: string;
  readonly licence: string;
  /** Documents at most, evenly spaced. */
  readonly cap: number;
  read(data: string): AsyncIterable<TrainingDocument>;
};

/** All of them. */
export const SOURCES: readonly Source[] = [
  { name: 'squadshifts-wiki', licence: 'CC BY 4.0', cap: 4_000, read: judged('qa/squadshifts-wiki') },
  { name: 'squadshifts-reddit', licence: 'CC BY 4.0', cap: 5_000, read: judged('qa/squadshifts-reddit') },
  { name: 'squadshifts-amazon', licence: 'CC BY 4.0', cap: 4_000, read: judged('qa/squadshifts-amazon') },
  { name: 'squad-sentences', licence: 'CC BY-SA 4.0', cap: 14_000, read: judged('qa/squad-sentences') },
  { name: 'boolq', licence: 'CC BY-SA 3.0', cap: 15_000, read: pairs('boolq-train') },
  { name: 'wiki-summaries', licence: 'CC BY-SA 3.0', cap: 12_000, read: pairs('wiki-summaries') },
  { name: 'medquad', licence: 'CC BY 4.0', cap: 12_000, read: judged('qa/medquad') },
  { name: 'pubmedqa', licence: 'MIT', cap: 2_000, read: judged('qa/pubmedqa-l') },
  { name: 'covidfact', licence: 'MIT', cap: 4_000, read: judged('qa/covidfact') },
  { name: 'healthver', licence: 'free for research and use', cap: 1_000, read: judged('qa/healthver') },
  { name: 'wordnet', licence: 'WordNet', cap: 16_000, read: synonyms },
  { name: 'debian-packages', licence: 'Debian', cap: 8_000, read: judged('qa/debian-packages') },
  { name: 'manpages', licence: 'Debian', cap: 4_000, read: passages('manpages') },
  { name: 'nodejs', licence: 'MIT', cap: 3_500, read: passages('nodejs-doc') },
  { name: 'debian-handbook', licence: 'GPL-2+ / CC BY-SA 3.0', cap: 1_500, read: passages('debian-handbook') },
  { name: 'debian-reference', licence: 'GPL-2+', cap: 1_200, read: passages('debian-reference-en') },
];

/** Words of a piece: what training reads, give or take. */
const PIECE_WORDS = 110;
/** Pieces of a document at most: a long one should not be a fifth of its source. */
const MAX_PIECES = 3;

/** Lines of JSON. Fields are those that the readers below know of their files. */
export async function* rows<T>(path: string): AsyncGenerator<T> {
  for await (const line of createInterface({ input: createReadStream(path) })) if (line !== '') yield JSON.parse(line);
}

type CorpusRow = { readonly _id: string; readonly title?: string; readonly text: string };

/** A collection in BEIR layout: every judgement of every split is a query of its document. */
function judged(folder: string): Source['read'] {
  return async function* (data) {
    const base = join(data, 'collections', folder);
    const texts = new Map<string, string>();
    for await (const { _id, text } of rows<CorpusRow>(join(base, 'queries.jsonl'))) texts.set(_id, text);
    const queries = new Map<string, string[]>();
    for (const split of await readdir(join(base, 'qrels')))
      for await (const line of createInterface({ input: createReadStream(join(base, 'qrels', split)) })) {
        const [query, document, grade] = line.split('\t');
        const text = texts.get(query);
        if (text !== undefined && Number(grade) > 0) queries.set(document, [...(queries.get(document) ?? []), text]);
      }
    for await (const { _id, title = '', text } of rows<CorpusRow>(join(base, 'corpus.jsonl')))
      yield* pieces({ id: _id, title, text, queries: queries.get(_id) ?? [] });
  };
}

/** {query, title, text} lines; passages that several questions are about are one document. */
function pairs(name: string): Source['read'] {
  return async function* (data) {
    const documents = new Map<string, CorpusRow & { queries: string[] }>();
    for await (const row of rows<CorpusRow & { query: string }>(join(data, 'texts/pairs', `${name}.jsonl`))) {
      const found = documents.get(row.text);
      if (found) found.queries.push(row.query);
      else documents.set(row.text, { ...row, queries: [row.query] });
    }
    for (const { _id, title = '', text, queries } of documents.values())
      yield* pieces({ id: _id, title, text, queries });
  };
}

type DefinitionRow = { readonly _id: string; readonly terms: readonly string[]; readonly text: string };

/** WordNet: one word of a set stands over the gloss, the others are queries. Sets of one word teach no synonyms. */
async function* synonyms(data: string): AsyncGenerator<TrainingDocument> {
  for await (const { _id, terms, text } of rows<DefinitionRow>(join(data, 'texts/definitions/wordnet-glosses.jsonl')))
    if (terms.length > 1) yield { id: _id, title: terms[0], text, queries: terms.slice(1, 5) };
}

/** Passages of documentation. Page titles end in the name of the manual, which tells nothing. */
function passages(name: string): Source['read'] {
  return async function* (data) {
    for await (const { _id, title = '', text } of rows<CorpusRow>(join(data, 'texts/docs', `${name}.jsonl`)))
      yield* pieces({ id: _id, title: pageTitle(title), text, queries: [] });
  };
}

/** "os.path — Common pathname manipulations — Python 3.11.2 documentation" without its last part. */
export function pageTitle(title: string): string {
  const parts = title.split(/\s+[—|]\s+/);
  return parts.length > 1 ? parts.slice(0, -1).join(' — ') : title;
}

/** A document in pieces. Queries go to the first: whether another one answers, a teacher says. */
function* pieces({ id, title, text, queries }: TrainingDocument): Generator<TrainingDocument> {
  const words = text.split(/\s+/).filter((word) => word !== '');
  for (let i = 0; i < MAX_PIECES && i * PIECE_WORDS < words.length; i++) {
    const piece = words.slice(i * PIECE_WORDS, (i + 1) * PIECE_WORDS);
    if (i > 0 && piece.length < PIECE_WORDS / 2) return;
    yield { id: i === 0 ? id : `${id}~${i}`, title, text: piece.join(' '), queries: i === 0 ? queries : [] };
  }
}
