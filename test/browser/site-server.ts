/** Hosts of static files as they are found in the world, for tests of site search. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { SiteFiles } from '../../src/site/index.ts';
import { type LocalServer, startServer } from '../http/local-server.ts';

/** What a host does. */
export type HostKind = {
  /** `yes`: 206. `ignored`: 200 with the whole file. `encoded`: 206 of the file as it was compressed, which is useless. */
  readonly ranges?: 'yes' | 'ignored' | 'encoded';
  /** Compresses whatever it sends whole. */
  readonly gzip?: boolean;
  /** The page's Content-Security-Policy. */
  readonly policy?: string;
  /** Milliseconds before each answer. */
  readonly delayMs?: number;
  /** Seconds that browsers may keep files. */
  readonly maxAge?: number;
  /** Damages files by name. */
  readonly change?: (name: string, bytes: Uint8Array) => Uint8Array;
  /** Whether it hangs up on who asks for files of the search. */
  readonly isDown?: () => boolean;
  /** Answers 200 and a page to addresses that it does not know, as hosts of applications do. */
  readonly fallback?: boolean;
};

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  json: 'application/json',
  bin: 'application/octet-stream',
};

/** A strict policy permits files of the host and nothing inside of the page. */
const PAGE = '<!doctype html><title>Site</title><script type="module" src="/page.js"></script>';
const PAGE_SCRIPT = "import { open } from '/search/lzero.js'; window.openSearch = open;";

/** Serves a site below /search/ and a page at / that waits for tests to use it. */
export async function serveSite({ files }: Pick<SiteFiles, 'files'>, kind: HostKind = {}): Promise<LocalServer> {
  return await startServer((response, request) => {
    const answer = (): void => answerSite(response, request, { files, kind });
    if (kind.delayMs) setTimeout(answer, kind.delayMs);
    else answer();
  });
}

type Site = { readonly files: ReadonlyMap<string, Uint8Array>; readonly kind: HostKind };

function answerSite(response: ServerResponse, request: IncomingMessage, { files, kind }: Site): void {
  const path = (request.url ?? '/').replace(/\?.*$/, '');
  if (path === '/') {
    const policy = kind.policy ? { 'content-security-policy': kind.policy } : {};
    response.writeHead(200, { 'content-type': 'text/html', ...policy }).end(PAGE);
    return;
  }
  if (path === '/page.js') {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(PAGE_SCRIPT);
    return;
  }
  const name = path.replace(/^\/(?:search\/)?/, ''); // the service worker may lie at the top
  if (kind.isDown?.()) {
    response.destroy();
    return;
  }
  const found = files.get(name);
  if (!found) {
    if (kind.fallback) response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    else response.writeHead(404).end();
    return;
  }
  const bytes = Buffer.from(kind.change?.(name, found) ?? found);
  const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  const policy = kind.policy ? { 'content-security-policy': kind.policy } : {};
  const caching = kind.maxAge ? { 'cache-control': `max-age=${kind.maxAge}` } : {};
  sendFile(response, request, { bytes, headers: { 'content-type': type, ...policy, ...caching }, kind });
}

type Sending = { readonly bytes: Buffer; readonly headers: Record<string, string>; readonly kind: HostKind };

function sendFile(response: ServerResponse, request: IncomingMessage, { bytes, headers, kind }: Sending): void {
  const { ranges = 'yes', gzip = false } = kind;
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (from !== undefined && ranges !== 'ignored') {
    const body = ranges === 'encoded' ? gzipSync(bytes) : bytes;
    const part = body.subarray(Number(from), Number(to) + 1);
    const place = `bytes ${from}-${Number(from) + part.length - 1}/${body.length}`;
    const encoding = ranges === 'encoded' ? { 'content-encoding': 'gzip' } : {};
    response
      .writeHead(206, { ...headers, ...encoding, 'content-range': place, 'content-length': part.length })
      .end(part);
  } else if (gzip) response.writeHead(200, { ...headers, 'content-encoding': 'gzip' }).end(gzipSync(bytes));
  else response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes);
}
