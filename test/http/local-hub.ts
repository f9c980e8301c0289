/** A hub on this machine for tests: tells of one model and serves its files, as the API of Hugging Face does. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, serveBytes } from './local-server.ts';

/** A model on the hub. */
export type HubModel = {
  readonly id: string;
  readonly commit: string;
  /** Contents by path. */
  readonly files: Readonly<Record<string, Buffer>>;
  /** Paths of files that are kept apart from git, with a SHA-256. */
  readonly large?: readonly string[];
  readonly branches?: readonly string[];
  readonly tags?: readonly string[];
};

/** Answers a request for one file, from 1 on for each path. */
export type FileAnswer = (
  response: ServerResponse,
  request: IncomingMessage,
  file: { readonly path: string; readonly body: Buffer; readonly etag: string; readonly numAsked: number },
) => void;

/** What the hub does otherwise than a good one. */
export type HubTricks = {
  readonly file?: FileAnswer;
  /** Changes what the listing says. */
  readonly listing?: (listing: HubListing) => unknown;
};

/** The answer of the API. */
export type HubListing = {
  id: string;
  sha: string;
  siblings: { rfilename: string; size?: number; blobId?: string; lfs?: { sha256: string; size: number } }[];
};

/** The SHA-256 of bytes. */
export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What git calls a file of these bytes. */
export function gitBlobOf(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** What the API tells of a model. */
export function listingOf({ id, commit, files, large = [] }: HubModel): HubListing {
  const siblings = Object.entries(files).map(([rfilename, bytes]) => ({
    rfilename,
    size: bytes.length,
    blobId: gitBlobOf(bytes),
    ...(large.includes(rfilename) ? { lfs: { sha256: sha256Of(bytes), size: bytes.length } } : {}),
  }));
  return { id, sha: commit, siblings };
}

/** Serves bytes with their checksum as ETag, ranges included. */
export const serveFile: FileAnswer = (response, request, { body, etag }) =>
  serveBytes(response, request, { body, etag });

/** Answers as a hub with one model. */
export function hubOf(model: HubModel, { file = serveFile, listing = (usual) => usual }: HubTricks = {}): Answer {
  const { id, commit, files, branches = ['main'], tags = [] } = model;
  const numAsked = new Map<string, number>();
  return (response, request) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://hub');
    const revision = decodeURIComponent(pathname.split(`/api/models/${id}/revision/`)[1] ?? '');
    const path = decodeURIComponent(pathname.split(`/${id}/resolve/${commit}/`)[1] ?? '');
    if (pathname === '/api/models') {
      const found = [searchParams.get('search'), searchParams.get('author')].some((word) => word && id.includes(word));
      return sendJson(response, found ? [{ id }] : []);
    }
    if (pathname === `/api/models/${id}/refs`)
      return sendJson(response, { branches: branches.map((name) => ({ name })), tags: tags.map((name) => ({ name })) });
    if ([...branches, ...tags, commit].includes(revision)) return sendJson(response, listing(listingOf(model)));
    if (revision !== '') return refuse(response, 404, 'RevisionNotFound');
    const body = files[path];
    if (body === undefined) return refuse(response, 404, path === '' ? 'RepoNotFound' : 'EntryNotFound');
    numAsked.set(path, (numAsked.get(path) ?? 0) + 1);
    file(response, request, { path, body, etag: `"${sha256Of(body)}"`, numAsked: numAsked.get(path) ?? 1 });
  };
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Refuses, as the hub says why. */
export function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, code === '' ? {} : { 'x-error-code': code }).end(JSON.stringify({ error: code }));
}
