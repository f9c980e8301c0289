/** A static host on this machine: folders as a web server of today serves them, with gzip for text and ranges for the rest. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type LocalServer, startServer } from '../http/local-server.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
};

/** How to serve. */
export type HostOptions = {
  /** Folders by the beginning of their addresses, such as `/search/`; the longest that fits counts. */
  readonly folders: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers by itself, and says so. */
  readonly meddle?: (path: string, response: ServerResponse, request: IncomingMessage) => boolean;
};

/** A host that runs. */
export type PageHost = LocalServer & {
  /** Bytes of bodies sent so far. */
  numBytes(): number;
};

/** Starts a host. */
export async function startHost({ folders, headers = {}, meddle }: HostOptions): Promise<PageHost> {
  let numBytes = 0;
  const send = (response: ServerResponse, status: number, body: Buffer): void => {
    numBytes += body.length;
    response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
  };
  const server = await startServer((response, request) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://host').pathname);
    if (meddle?.(path, response, request)) return;
    const file = fileOf(folders, path);
    if (file === undefined) return send(response, 404, Buffer.from('not found'));
    const body = readFileSync(file);
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.setHeader('content-type', type);
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    if (range) {
      const end = Math.min(body.length - 1, range[2] === '' ? Number.POSITIVE_INFINITY : Number(range[2]));
      response.setHeader('content-range', `bytes ${range[1]}-${end}/${body.length}`);
      return send(response, 206, body.subarray(Number(range[1]), end + 1));
    }
    if (type === 'application/octet-stream') return send(response, 200, body);
    response.setHeader('content-encoding', 'gzip');
    send(response, 200, gzipSync(body, { level: 9 }));
  });
  return { ...server, numBytes: () => numBytes };
}

function fileOf(folders: HostOptions['folders'], path: string): string | undefined {
  const [start] = Object.keys(folders)
    .filter((one) => path.startsWith(one))
    .sort((a, b) => b.length - a.length);
  if (start === undefined || path.includes('..')) return undefined;
  const place = join(folders[start], path.slice(start.length));
  const file = existsSync(place) && statSync(place).isDirectory() ? join(place, 'index.html') : place;
  return existsSync(file) ? file : undefined;
}
