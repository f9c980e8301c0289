/**
 * Opens a site's search in a page. This is `lzero.js` of a site: small, because all else is fetched beside the index.
 *
 * A page may stay open for days, and the site be built anew meanwhile: files of the old build are gone then. Where one cannot
 * be had, the manifest is asked for again, and the search goes on with the build that it names.
 */
import { errorCode, messageOf, SiteError } from '../core/index.ts';
import { type Backend, openBackend } from './backend.ts';
import type { EngineAnswer, EngineOptions } from './engine.ts';
import { MANIFEST_NAME, parseManifest, type SiteManifest } from './manifest.ts';
import type { OpenOptions, SiteAnswer, SiteSearch, SiteSearchOptions, SiteSummary } from './types.ts';

/** Opens the search of a site. `url` is the folder that `lzero site build` wrote, such as "/search/". */
export async function open(url: string | URL, { worker = true }: OpenOptions = {}): Promise<SiteSearch> {
  const base = folderOf(url);
  const openBuild = async (manifest: SiteManifest): Promise<Build> => ({
    manifest,
    backend: await openBackend(base, manifest, { worker }),
  });
  const openNewer = async ({ manifest: old, backend }: Build): Promise<Build | undefined> => {
    const manifest = await fetchManifest(base);
    return backend.hasEnded || !isSame(manifest, old) ? await openBuild(manifest) : undefined;
  };
  return searchOf(new Builds(await openBuild(await fetchManifest(base)), openNewer));
}

declare const document: { readonly baseURI: string } | undefined;

function folderOf(url: string | URL): string {
  const from = typeof document === 'undefined' ? undefined : document.baseURI;
  const { href } = new URL(url, from);
  return href.endsWith('/') ? href : `${href}/`;
}

/** The one file that changes in place: asked for anew, and taken from the cache where there is no network. */
async function fetchManifest(base: string): Promise<SiteManifest> {
  const url = new URL(MANIFEST_NAME, base);
  const get = (cache: 'no-cache' | 'force-cache'): Promise<Response> => {
    const init: RequestInit & { cache: typeof cache } = { cache };
    return fetch(url, init);
  };
  try {
    const response = await get('no-cache').catch(() => get('force-cache'));
    if (!response.ok) throw new SiteError(`${url.href} is missing: the host answered ${response.status}`);
    return parseManifest(await response.text(), url.href);
  } catch (cause) {
    if (cause instanceof SiteError) throw cause;
    throw new SiteError(`${url.href} cannot be fetched: ${messageOf(cause)}`, {
      hint: 'is this the address of the folder that `lzero site build` wrote?',
      cause,
    });
  }
}

/** Manifests are parsed into fields of one order. */
function isSame(a: SiteManifest, b: SiteManifest): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** One build of the site, open. */
type Build = { readonly manifest: SiteManifest; readonly backend: Backend };

/** The build that is searched, and how it gives way to a newer one. */
class Builds {
  readonly #openNewer: (failed: Build) => Promise<Build | undefined>;
  #current: Build;
  /** One for all searches that fail together. */
  #renewing: Promise<Build | undefined> | undefined;
  #isClosed = false;

  /** @param openNewer opens the build that has taken the place of one that failed; undefined where none has */
  constructor(first: Build, openNewer: (failed: Build) => Promise<Build | undefined>) {
    this.#current = first;
    this.#openNewer = openNewer;
  }

  get current(): Build {
    return this.#current;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    this.#current.backend.close();
  }

  /** Searches the build; where its files cannot be had, once more in the build that has taken its place. */
  async search(text: string, options: EngineOptions, signal: AbortSignal | undefined): Promise<EngineAnswer> {
    const asked = this.#current;
    try {
      return await asked.backend.search(text, options, signal);
    } catch (error) {
      // by its code: the engine in this thread comes with classes of its own
      if (errorCode(error) !== 'SITE' || this.#isClosed || signal?.aborted) throw error;
      const newer = await this.#newerThan(asked).catch(() => undefined);
      if (!newer || this.#isClosed) throw error;
      signal?.throwIfAborted();
      return await newer.backend.search(text, options, signal);
    }
  }

  async #newerThan(failed: Build): Promise<Build | undefined> {
    if (this.#current !== failed) return this.#current; // another search was faster
    this.#renewing ??= this.#renew(failed).finally(() => {
      this.#renewing = undefined;
    });
    return await this.#renewing;
  }

  async #renew(failed: Build): Promise<Build | undefined> {
    const newer = await this.#openNewer(failed);
    if (!newer) return undefined;
    this.#current = newer;
    failed.backend.close();
    if (this.#isClosed) newer.backend.close();
    return newer;
  }
}

/** The search that a page calls. */
function searchOf(builds: Builds): SiteSearch {
  let newest = 0;
  const search = async (text: string, options: SiteSearchOptions = {}): Promise<SiteAnswer> => {
    if (builds.isClosed) throw new SiteError('this search was closed');
    const { signal, ...sent } = options;
    signal?.throwIfAborted();
    const own = ++newest;
    const began = performance.now();
    const answer = await builds.search(text, sent, signal);
    return { query: text, tookMs: performance.now() - began, stale: own !== newest, ...answer };
  };
  const site = (): SiteSummary => {
    const { numPages, numSections, labels } = builds.current.manifest;
    return { numPages, numSections, labels };
  };
  const degraded = (): readonly string[] => builds.current.backend.degraded;
  const properties = { close: () => builds.close(), site: site(), degraded: degraded() };
  return Object.defineProperties(Object.assign(search, properties), {
    site: { get: site },
    degraded: { get: degraded },
  });
}
