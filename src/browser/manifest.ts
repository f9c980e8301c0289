/**
 * manifest.json of a site: the one file of the folder with a fixed name beside lzero.js, read first, and the only one
 * that changes in place. All others are named by their content. docs/SITE.md has the format.
 */
import { isJsonObject, parseJson, SiteError } from '../core/index.ts';

/** Version of the format that this code reads and writes. */
export const SITE_FORMAT = 1;
/** The name of the manifest in the folder. */
export const MANIFEST_NAME = 'manifest.json';

/** A file of the site. */
export type SiteFile = { readonly name: string; readonly sizeBytes: number };

/** What the manifest says. */
export type SiteManifest = {
  readonly format: number;
  /** What one step of a section's code is worth. */
  readonly scale: number;
  readonly numPages: number;
  readonly numSections: number;
  /** The script that searches: a worker, or a module where there are no workers. */
  readonly engine: string;
  /** What is needed before the first query: vocabulary, weights of query terms, where postings are. */
  readonly start: SiteFile;
  /** What is needed with the first query: which sections are a page, where texts are, labels. */
  readonly pages: SiteFile;
  /** Label names and the values that pages have. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
};

/** Reads the manifest; a SiteError for anything else. */
export function parseManifest(text: string, label: string): SiteManifest {
  const fail = (problem: string): SiteError =>
    new SiteError(`${label}: ${problem}`, { hint: 'is this the folder that `lzero site build` wrote?' });
  const value = parseJson(text, fail);
  if (!isJsonObject(value) || typeof value.format !== 'number') throw fail('this is not the manifest of a site');
  if (value.format !== SITE_FORMAT)
    throw new SiteError(`${label}: format ${value.format}, this script reads format ${SITE_FORMAT}`, {
      hint: 'a cached lzero.js of another version: load it from the folder of the site, and reload the page',
    });
  const { format, scale, numPages, numSections, engine, start, pages, labels } = value;
  if (
    typeof scale === 'number' &&
    scale > 0 &&
    isCount(numPages) &&
    isCount(numSections) &&
    isName(engine) &&
    isFile(start) &&
    isFile(pages) &&
    isLabels(labels)
  )
    return { format, scale, numPages, numSections, engine, start, pages, labels };
  throw fail('a field is missing or of a wrong type');
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Files lie in the folder itself or one below: a name never leads elsewhere. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^(?:[a-z]\/)?[\w-]+\.\w+$/.test(value);
}

function isFile(value: unknown): value is SiteFile {
  return isJsonObject(value) && isName(value.name) && isCount(value.sizeBytes);
}

function isLabels(value: unknown): value is SiteManifest['labels'] {
  if (!isJsonObject(value)) return false;
  return Object.values(value).every((list) => Array.isArray(list) && list.every((item) => typeof item === 'string'));
}
