/**
 * Files of a site from the host that has them: ranges where the host gives them, whole files elsewhere. Whether it does is
 * seen from its answers to real requests, never asked beforehand: hosts answer HEAD with what they do not do.
 *
 * A range counts only as 206 with the bytes that were asked for and without Content-Encoding: what a host compressed on its
 * way is a range of something else. A host that sends the whole file instead (200) gave more than was asked for: it is
 * used, and the next requests are for whole files. A file in another length than the build wrote is no such answer, but
 * something in its place (the page of a captive portal, or what an application answers to unknown addresses): it is fetched
 * once more past the caches, which would give it back for ever, and tells nothing about ranges.
 */
import { messageOf, SiteError } from '../core/index.ts';
import type { Piece } from './posting-blocks.ts';

/** Where files come from. The page's own host, or memory, where a build measures what a search will cost. */
export type SiteHost = {
  /** A whole file. Tells `count` how many bytes came. */
  file(name: string, request: HostRequest): Promise<Uint8Array>;
  /** Parts of files, each as its own bytes, in the order that was asked for. */
  pieces(pieces: readonly Piece[], request: HostRequest): Promise<Uint8Array[]>;
  /** Whether ranges work; undefined until one was asked for. */
  readonly hasRanges: boolean | undefined;
};

/** For whom something is fetched. */
export type HostRequest = {
  readonly signal?: AbortSignal | undefined;
  /** Told how many bytes came for this request. */
  readonly count: (bytes: number) => void;
  /** Past every cache: what came before was damaged. */
  readonly isFresh?: boolean | undefined;
};

/** One request of the network. `range` is left out for a whole file. */
export type FetchBytes = (
  name: string,
  range: { readonly offset: number; readonly length: number } | undefined,
  request: Pick<HostRequest, 'signal' | 'isFresh'>,
) => Promise<Fetched>;

/** What came: all of a file, or the range. */
export type Fetched = { readonly bytes: Uint8Array; readonly isWhole: boolean };

/** Pieces of a file with less than this between them are fetched as one: a request costs about as much. */
const MAX_GAP_BYTES = 512;
/** A file of which more than this share is wanted is fetched whole. */
const WHOLE_SHARE = 0.75;

/** A host by what it answers to single requests. */
export class FetchingHost implements SiteHost {
  readonly #fetch: FetchBytes;
  /** Files that came whole although, or because, ranges do not work. */
  readonly #files = new Map<string, Promise<Uint8Array>>();
  #hasRanges: boolean | undefined;

  constructor(fetch: FetchBytes) {
    this.#fetch = fetch;
  }

  get hasRanges(): boolean | undefined {
    return this.#hasRanges;
  }

  async file(name: string, request: HostRequest): Promise<Uint8Array> {
    const { bytes } = await this.#fetch(name, undefined, request);
    request.count(bytes.length);
    return bytes;
  }

  async pieces(pieces: readonly Piece[], request: HostRequest): Promise<Uint8Array[]> {
    const runs = runsOf(pieces);
    const found = await Promise.all(runs.map((run) => this.#run(run, request)));
    return pieces.map(({ file, offset, length }) => {
      const i = runs.findIndex((run) => run.file === file && run.offset <= offset && offset < run.offset + run.length);
      return found[i].subarray(offset - runs[i].offset, offset - runs[i].offset + length);
    });
  }

  async #run(run: Piece, request: HostRequest): Promise<Uint8Array> {
    const bytes = await this.#bytesOf(run, request);
    if (bytes.length === run.length) return bytes;
    const again = request.isFresh ? bytes : await this.#bytesOf(run, { ...request, isFresh: true });
    if (again.length === run.length) return again;
    throw new SiteError(`${run.file} is damaged: expected ${run.fileBytes} bytes, got ${again.length}`, {
      hint: 'upload the folder of the site again; its files are to be copied as they are',
    });
  }

  /** The bytes of a run; all of what came where that is not the file. Should it be as long as the run, its checksum fails. */
  async #bytesOf(run: Piece, request: HostRequest): Promise<Uint8Array> {
    const { file, fileBytes, offset, length } = run;
    if (this.#hasRanges === false || length > WHOLE_SHARE * fileBytes || this.#files.has(file))
      return partOf(await this.#wholeFile(run, request), run);
    const { bytes, isWhole } = await this.#fetch(file, { offset, length }, request);
    request.count(bytes.length);
    if (!isWhole) {
      this.#hasRanges ??= true; // never from false to true: a browser cuts ranges of files that it has whole
      return bytes;
    }
    if (bytes.length === fileBytes) {
      this.#hasRanges = false;
      this.#files.set(file, Promise.resolve(bytes));
    }
    return partOf(bytes, run);
  }

  /** Several searches may want one file at the same time: one that is aborted must not take it away from the others. */
  async #wholeFile({ file, fileBytes }: Piece, { count, isFresh }: HostRequest): Promise<Uint8Array> {
    const known = isFresh ? undefined : this.#files.get(file);
    const coming = known ?? this.file(file, { count, isFresh });
    this.#files.set(file, coming);
    const forget = (): void => {
      if (this.#files.get(file) === coming) this.#files.delete(file);
    };
    try {
      const bytes = await coming;
      if (bytes.length !== fileBytes) forget();
      return bytes;
    } catch (error) {
      forget();
      throw error;
    }
  }
}

/**
 * Fetches pieces and reads each. One that is damaged is fetched again past the caches, which would give the damage back for
 * ever; if it still is, `read` has said what is wrong.
 */
export async function readPieces<T>(
  host: SiteHost,
  pieces: readonly Piece[],
  { request, read }: { readonly request: HostRequest; readonly read: (bytes: Uint8Array, piece: Piece) => Promise<T> },
): Promise<T[]> {
  const found = await host.pieces(pieces, request);
  return await Promise.all(
    found.map((bytes, i) =>
      read(bytes, pieces[i]).catch(async (error: unknown) => {
        if (!(error instanceof SiteError)) throw error;
        const [again] = await host.pieces([pieces[i]], { ...request, isFresh: true });
        return await read(again, pieces[i]);
      }),
    ),
  );
}

/** The same of a whole file. */
export async function readFile<T>(
  host: SiteHost,
  name: string,
  { request, read }: { readonly request: HostRequest; readonly read: (bytes: Uint8Array) => Promise<T> },
): Promise<T> {
  const bytes = await host.file(name, request);
  return await read(bytes).catch(async (error: unknown) => {
    if (!(error instanceof SiteError)) throw error;
    return await read(await host.file(name, { ...request, isFresh: true }));
  });
}

function partOf(bytes: Uint8Array, { fileBytes, offset, length }: Piece): Uint8Array {
  return bytes.length === fileBytes ? bytes.subarray(offset, offset + length) : bytes;
}

/** Pieces as few runs of bytes. */
function runsOf(pieces: readonly Piece[]): Piece[] {
  const runs: Piece[] = [];
  const inOrder = [...pieces].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.offset - b.offset));
  for (const piece of inOrder) {
    const last = runs.at(-1);
    const end = last ? last.offset + last.length : 0;
    if (last?.file === piece.file && piece.offset <= end + MAX_GAP_BYTES)
      runs[runs.length - 1] = { ...last, length: Math.max(end, piece.offset + piece.length) - last.offset };
    else runs.push(piece);
  }
  return runs;
}

/** Requests over HTTP, below an address that ends in `/`. */
export function httpFetch(base: string): FetchBytes {
  return async (name, range, asked) => {
    const url = new URL(name, base);
    const ranged = range && (await requestRange(url, range, asked));
    return ranged ?? { bytes: await bodyOf(await request(url, undefined, asked), name), isWhole: true };
  };
}

type ByteRange = NonNullable<Parameters<FetchBytes>[1]>;
type Asked = Parameters<FetchBytes>[2];

/**
 * A range, or what came in its place; undefined where it is of no use. A compressed range is one that browsers fail to
 * unpack: to them the request has failed, and only asking for the whole file tells whether the network is gone.
 */
async function requestRange(url: URL, range: ByteRange, asked: Asked): Promise<Fetched | undefined> {
  try {
    const response = await request(url, range, asked);
    if (response.status === 200) return { bytes: new Uint8Array(await response.arrayBuffer()), isWhole: true };
    const bytes = response.status === 206 && isRange(response, range) ? await response.arrayBuffer() : undefined;
    return bytes?.byteLength === range.length ? { bytes: new Uint8Array(bytes), isWhole: false } : undefined;
  } catch (error) {
    if (asked.signal?.aborted) throw error;
    return undefined;
  }
}

/**
 * Names are hashes of contents: what a browser has under a name is right for ever, and need not be asked for again. Unless it
 * is a refusal, which browsers keep as well: a host that was half uploaded would be so for ever.
 */
async function request(url: URL, range: ByteRange | undefined, asked: Asked): Promise<Response> {
  const response = await requestOnce(url, range, asked);
  return response.ok || asked.isFresh ? response : await requestOnce(url, range, { ...asked, isFresh: true });
}

async function requestOnce(url: URL, range: ByteRange | undefined, { signal, isFresh }: Asked): Promise<Response> {
  const headers = range ? { Range: `bytes=${range.offset}-${range.offset + range.length - 1}` } : {};
  const cache: 'reload' | 'force-cache' = isFresh ? 'reload' : 'force-cache';
  const init: RequestInit & { cache: typeof cache } = { cache, headers, ...(signal ? { signal } : {}) };
  try {
    return await fetch(url, init);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new SiteError(`${url.pathname} cannot be fetched: ${messageOf(cause)}`, {
      hint: 'the network is gone, or the host does not answer; what was fetched before can still be searched',
      cause,
    });
  }
}

function isRange(response: Response, { offset, length }: ByteRange): boolean {
  const place = response.headers.get('Content-Range');
  const isPlace = place === null || place.startsWith(`bytes ${offset}-${offset + length - 1}/`);
  return isPlace && response.headers.get('Content-Encoding') === null;
}

async function bodyOf(response: Response, name: string): Promise<Uint8Array> {
  if (!response.ok)
    throw new SiteError(`${name} is missing: the host answered ${response.status}`, {
      hint:
        response.status === 404
          ? 'the site may have been built anew since this page was loaded: reload it'
          : 'look at the answer of the host',
    });
  return new Uint8Array(await response.arrayBuffer());
}
