/** What the page asks the server for: the HTTP API as docs/SERVER.md has it, and nothing else. */
import type { Place } from '../shared/pieces.ts';

/** A term that query and document share. */
export type Product = {
  readonly token: string;
  readonly queryWeight: number;
  readonly docWeight: number;
  readonly product: number;
};

/** A found document. */
export type Hit = {
  readonly rank: number;
  readonly id: string;
  readonly score: number;
  readonly title?: string;
  readonly url?: string;
  readonly explain?: readonly Product[];
  readonly snippet?: {
    readonly text: string;
    readonly highlights: readonly Place[];
    readonly titleHighlights: readonly Place[];
    readonly isCut: { readonly before: boolean; readonly after: boolean };
    readonly expansion: readonly string[];
  };
};

/** What a search gives. */
export type SearchAnswer = {
  readonly index: string;
  readonly tookMs: number;
  readonly terms: readonly { readonly token: string; readonly weight: number }[];
  readonly hits: readonly Hit[];
};

/** Why a document stands where it stands, in one index or in several that are joined. */
export type Explanation = {
  readonly engines?: readonly {
    readonly name: string;
    readonly score: number;
    readonly rank: number | null;
    readonly explain: readonly Product[];
  }[];
};

/** An index in numbers. */
export type IndexFigures = {
  readonly name: string;
  readonly kind: 'sparse' | 'bm25';
  readonly isWritable: boolean;
  readonly generation: number;
  readonly numDocs: number;
  readonly numDeleted: number;
  readonly numSegments: number;
  readonly sizeBytes: { readonly total: number };
  readonly docLen: number | null;
  readonly model: string | null;
  readonly fields: Readonly<Record<string, string>>;
};

/** Why the server did not answer. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** How a question is asked. */
export type Asking = {
  /** Empty where none is needed. */
  readonly token: string;
  readonly signal?: AbortSignal;
};

/** What a search wants. */
export type SearchRequest = { readonly query: string; readonly k: number; readonly explain: boolean };

/** Searches an index, or several as `rrf:A+B`. */
export async function search(system: string, wanted: SearchRequest, asking: Asking): Promise<SearchAnswer> {
  return await post(`v1/indexes/${encodeURIComponent(system)}/search`, { ...wanted, snippets: true }, asking);
}

/** Why a document stands where it stands. */
export async function explain(
  system: string,
  wanted: { readonly query: string; readonly id: string },
  asking: Asking,
): Promise<Explanation> {
  return await post(`v1/indexes/${encodeURIComponent(system)}/explain`, wanted, asking);
}

/** All indexes. */
export async function listIndexes(asking: Asking): Promise<readonly IndexFigures[]> {
  const { indexes } = await ask<{ readonly indexes: readonly IndexFigures[] }>('v1/indexes', asking);
  return indexes;
}

async function post<Answer>(address: string, value: object, asking: Asking): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return await ask(address, asking, { method: 'POST', headers, body: JSON.stringify(value) });
}

async function ask<Answer>(address: string, { token, signal }: Asking, init: RequestInit = {}): Promise<Answer> {
  const headers = { ...init.headers, ...(token === '' ? {} : { authorization: `Bearer ${token}` }) };
  const response = await fetch(address, { ...init, headers, ...(signal ? { signal } : {}) });
  const answer = await response.json();
  if (response.ok) return answer;
  const { message = `status ${response.status}`, hint } = answer.error ?? {};
  throw new ApiError(response.status, hint === undefined ? message : `${message} (${hint})`);
}
