/** Documents that one wants to see change: at every evaluation their top terms are written into the run folder. */
import { byWeight, ConfigError, quoted } from '../../core/index.ts';
import { type Document, documentText } from '../../data/index.ts';
import type { Model } from '../../model/index.ts';

/** A document to watch. */
export type PinnedDocument = { readonly id: string; readonly text: string };

/** What a pinned document has become. */
export type PinnedTerms = {
  /** Its id; #1, #2, … where the configuration gives a text. */
  readonly id: string;
  /** How the text begins. */
  readonly text: string;
  /** Active terms. */
  readonly numTerms: number;
  /** Those of the largest weights, in order. */
  readonly terms: readonly (readonly [token: string, weight: number])[];
};

/** Pinned where the configuration names none. */
const NUM_DEFAULT = 3;
const MAX_CHARACTERS = 240;
const MAX_TERMS = 24;

/** The documents that a configuration means: those of these ids, or texts; the first ones of the collection if null. */
export function choosePinned(wanted: readonly string[] | null, documents: readonly Document[]): PinnedDocument[] {
  if (wanted === null) return documents.slice(0, NUM_DEFAULT).map(toPinned);
  const isWanted = new Set(wanted);
  const byId = new Map(documents.filter(({ id }) => isWanted.has(id)).map((document) => [document.id, document]));
  return wanted.map((name, i) => {
    const document = byId.get(name);
    if (document) return toPinned(document);
    if (/\s/.test(name.trim())) return { id: `#${i + 1}`, text: name };
    throw new ConfigError(`no document of the development collection has the id ${quoted(name)}`, {
      hint: 'name one that is evaluated (evaluate.maxDocuments leaves some out), or write a text of several words',
    });
  });
}

function toPinned(document: Document): PinnedDocument {
  return { id: document.id, text: documentText(document) };
}

/** Encodes the documents, and gives the terms of the largest weights. */
export async function pinnedTerms(
  model: Pick<Model, 'encode' | 'tokenizer'>,
  documents: readonly PinnedDocument[],
  signal?: AbortSignal,
): Promise<PinnedTerms[]> {
  const { tokens } = model.tokenizer.vocabulary;
  const all: PinnedTerms[] = [];
  for await (const { vector } of model.encode(documents, { signal })) {
    const { id, text } = documents[all.length];
    const top = byWeight(vector).slice(0, MAX_TERMS);
    const terms = top.map((i) => [tokens[vector.terms[i]], Number(vector.weights[i].toPrecision(4))] as const);
    all.push({ id, text: beginningOf(text), numTerms: vector.terms.length, terms });
  }
  return all;
}

function beginningOf(text: string): string {
  const characters = [...text.slice(0, 2 * MAX_CHARACTERS)]; // never half of a surrogate pair
  return characters.length <= MAX_CHARACTERS ? text : `${characters.slice(0, MAX_CHARACTERS).join('')}…`;
}
