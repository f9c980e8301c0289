/** Documents as callers give them: what is no document, or has a part that nobody would find again, is refused. */
import { InputError, UsageError } from '../core/index.ts';
import type { Origin } from '../search/index.ts';
import type { EngineDocument } from './engine.ts';

/** A document for the embedded index: it can keep where the document came from. */
export type IndexDocument = EngineDocument & {
  /** For whoever brings the index up to date with its source. Hits do not have it. */
  readonly origin?: Origin | undefined;
};

const PARTS: Readonly<Record<keyof IndexDocument, true>> = {
  id: true,
  title: true,
  text: true,
  url: true,
  fields: true,
  page: true,
  chunk: true,
  origin: true,
  vector: true,
};

/** Refuses what gives no documents one after the other. */
export function checkStream(documents: unknown): void {
  const isStream = isObject(documents) && (Symbol.iterator in documents || Symbol.asyncIterator in documents);
  if (isStream) return;
  throw new UsageError(`documents come as a list or a stream, got ${shown(documents)}`, {
    hint: "one document is a list too: add([{ id: 'a', text: '…' }])",
  });
}

/** Refuses what is no document. Its parts are checked where they are stored. `position` is from 1. */
export function checkDocument(document: unknown, position: number): void {
  const where = `document number ${position}`;
  if (!isObject(document) || Array.isArray(document))
    throw new InputError(`${where} is ${shown(document)}; expected an object such as { id: 'a', text: '…' }`);
  const unknown = Object.keys(document).find((key) => !Object.hasOwn(PARTS, key));
  if (unknown === undefined) return;
  throw new InputError(`${where} has ${JSON.stringify(unknown)}, which is no part of a document`, {
    hint: `parts are ${Object.keys(PARTS).join(', ')}; anything else goes into fields`,
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  return isObject(value) ? 'an object' : (JSON.stringify(value) ?? String(value));
}
