/**
 * What a hub has of a model: its commit, and its files with sizes and checksums. The API is that of Hugging Face:
 *
 *     GET ENDPOINT/api/models/OWNER/NAME/revision/REVISION?blobs=true
 *     {"id", "sha", "siblings": [{"rfilename", "size", "blobId", "lfs"?: {"sha256", "size"}}]}
 *
 * Large files are kept apart from git (LFS) and have a SHA-256; of all others git's own name, `blobId`, is the checksum.
 */
import { z } from 'zod';
import { DownloadError, describeIssues, parseJson } from '../../core/index.ts';
import { type Checksum, fetchText } from '../../download/index.ts';
import { type HubRequest, type HubSettings, hubHeaders } from './hub-settings.ts';
import { formatModelName, isCommit, type ModelName } from './model-name.ts';
import { orRefused } from './refusals.ts';

/** A file on a hub. */
export type HubFile = {
  readonly path: string;
  readonly sizeBytes: number;
  /** Undefined where the hub gives none: such a file could be anything. */
  readonly checksum: Checksum | undefined;
};

/** A model on a hub, in one state. */
export type Listing = {
  readonly commit: string;
  /** By path. */
  readonly files: ReadonlyMap<string, HubFile>;
};

const HEX = /^[0-9a-f]+$/;

const answerSchema = z.object({
  sha: z.string().refine(isCommit, 'expected a commit of 40 hexadecimal digits'),
  siblings: z.array(
    z.object({
      rfilename: z.string(),
      size: z.int().nonnegative().nullish(),
      blobId: z.string().length(40).regex(HEX).nullish(),
      lfs: z.object({ sha256: z.string().length(64).regex(HEX), size: z.int().nonnegative() }).nullish(),
    }),
  ),
});

/** Asks less often than for files: who is not there at once will hardly be there in a minute. */
const RETRIES = 2;

/** Asks a hub what it has. */
export async function fetchListing(name: ModelName, hub: HubSettings, request: HubRequest): Promise<Listing> {
  const url = `${hub.endpoint}/api/models/${name.id}/revision/${encodeURIComponent(name.revision)}?blobs=true`;
  const text = await orRefused({ name, hub, request }, (explainStatus) =>
    fetchText(url, { ...request, retries: request.retries ?? RETRIES, headers: hubHeaders(hub), explainStatus }),
  );
  return parseListing(text, name, url);
}

/**
 * Reads the answer of a hub.
 *
 * @param url names it in errors
 */
export function parseListing(text: string, name: ModelName, url: string): Listing {
  const fail = (problem: string, cause?: unknown): DownloadError =>
    new DownloadError(`${url}: the answer does not describe a model: ${problem}`, {
      hint: 'is this the address of a hub? A network that wants a login answers with a page of its own',
      cause,
    });
  const { data, error } = answerSchema.safeParse(parseJson(text, fail));
  if (!data) throw fail(describeIssues(error.issues), error);
  if (isCommit(name.revision) && data.sha !== name.revision)
    throw fail(`${formatModelName(name)} was asked for, it is of commit ${data.sha}`);
  const files = data.siblings.flatMap((sibling) => fileOf(sibling) ?? []);
  return { commit: data.sha, files: new Map(files.map((file) => [file.path, file])) };
}

/** A file; undefined for one whose name would lead out of a folder. */
function fileOf(sibling: z.infer<typeof answerSchema>['siblings'][number]): HubFile | undefined {
  const { rfilename: path, size, blobId, lfs } = sibling;
  if (!isInside(path)) return undefined;
  if (lfs) return { path, sizeBytes: lfs.size, checksum: { kind: 'sha256', hex: lfs.sha256 } };
  const sizeBytes = size ?? 0;
  const isKnown = typeof size === 'number' && typeof blobId === 'string';
  return { path, sizeBytes, checksum: isKnown ? { kind: 'git-blob', hex: blobId, sizeBytes } : undefined };
}

/** Whether a path from outside names something inside of the folder it is joined to, on every system. */
export function isInside(path: string): boolean {
  const parts = path.split('/');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  return parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\:\u0000-\u001f]/.test(part));
}
