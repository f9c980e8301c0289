/**
 * manifest.json: which files are the index. A commit replaces it by rename, so a reader sees one commit or the next,
 * never half of one. Knows nothing of what the files hold.
 *
 *     { "checksum": "89abcdef", "manifest": { "formatVersion": 1, "generation": 12, … } }
 *
 * The checksum is the CRC-32 of the compact JSON text of "manifest".
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { crc32, describeIssues, IndexFormatError, IndexStateError, messageOf, parseJson } from '../core/index.ts';
import { writeFileAtomically } from '../files/index.ts';
import { isMissing } from './byte-files.ts';
import { MANIFEST } from './layout.ts';

/** The version that this code writes and reads. */
export const FORMAT_VERSION = 1;

const count = z.int().nonnegative();
const fileSchema = z.strictObject({ sizeBytes: count, crc32: count });

const segmentSchema = z.strictObject({
  /** A number, from 0, never given twice. */
  name: z.string().regex(/^\d+$/),
  numDocs: count,
  numPostings: count,
  numDeleted: count,
  files: z.strictObject({ postings: fileSchema, documents: fileSchema, vectors: fileSchema.optional() }),
  /** Which documents are deleted; null where none is. */
  tombstones: z.strictObject({ name: z.string().regex(/^\d+\.\d+\.deleted$/), ...fileSchema.shape }).nullable(),
});

/** What JSON.parse gave, as it is: `z.json()` would drop a key named `__proto__`. */
const anyJson = z.custom<z.infer<ReturnType<typeof z.json>>>((value) => value !== undefined);

const settings = {
  /** Learned sparse vectors or words. */
  kind: z.enum(['sparse', 'bm25']),
  /** Whose vectors these are; null for words. */
  model: z.strictObject({ identity: z.string().min(1), name: z.string() }).nullable(),
  /** Weight of code 1; null for words. */
  scale: z.number().positive().nullable(),
  /** Fields that filters may use, by name. */
  fields: z.record(z.string(), z.enum(['keyword', 'number', 'boolean'])),
  /** Whether float weights are kept beside the codes. */
  storeVectors: z.boolean(),
  /** BM25's parameters; null for learned vectors. */
  bm25: z
    .strictObject({
      k1: z.number().nonnegative(),
      b: z.number().min(0).max(1),
      /** False: words such as "the" are indexed too. True where left out. */
      stopWords: z.boolean().optional(),
    })
    .nullable(),
};

const manifestSchema = z.strictObject({
  formatVersion: z.literal(FORMAT_VERSION),
  /** Random, given when the index is made: an index in the place of another is another. Old ones have none. */
  id: z
    .string()
    .regex(/^[0-9a-f-]+$/)
    .optional(),
  /** Counts commits and merges, from 1. */
  generation: z.int().positive(),
  ...settings,
  /** query-side.bin, or what `name` says; null where the index has none. */
  querySide: z
    .strictObject({
      name: z
        .string()
        .regex(/^query-side-[0-9a-f-]+\.bin$/)
        .optional(),
      ...fileSchema.shape,
    })
    .nullable(),
  segments: z.array(segmentSchema),
  /** The number of the next segment. */
  nextSegment: count,
  /** The number of the log that holds what happened since. */
  log: count,
  /** What the caller committed together with the documents. */
  userState: anyJson,
});

const fileFormat = z.strictObject({ checksum: z.string().regex(/^[0-9a-f]{8}$/), manifest: z.unknown() });

/** What belongs to one commit. */
export type Manifest = Readonly<z.infer<typeof manifestSchema>>;
/** One segment of a commit. */
export type SegmentEntry = Readonly<z.infer<typeof segmentSchema>>;
/** What is fixed when an index is made. */
export type StoreSettings = Readonly<Pick<Manifest, keyof typeof settings>>;
/** JSON that callers commit together with documents. */
export type UserState = Manifest['userState'];

const HINT = 'the index is damaged, or of another version: `lzero verify` says more; build it again if it stays so';

/** Reads and checks the manifest of a folder; IndexStateError where the folder has none. */
export function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST);
  return parseManifest(readText(path, folder), path);
}

function readText(path: string, folder: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (isMissing(cause))
      throw new IndexStateError(`${folder} is not an index: it has no ${MANIFEST}`, {
        hint: 'name the folder that `lzero index` wrote',
        cause,
      });
    throw new IndexFormatError(`${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** Parses a manifest's text. `path` names it in errors. */
export function parseManifest(text: string, path: string): Manifest {
  const fail = (problem: string, cause?: unknown) => new IndexFormatError(`${path}: ${problem}`, { cause, hint: HINT });
  const file = fileFormat.safeParse(parseJson(text, fail));
  if (!file.success) throw fail(describeIssues(file.error.issues));
  const { checksum, manifest } = file.data;
  if (versionOf(manifest) !== FORMAT_VERSION)
    throw fail(`expected format version ${FORMAT_VERSION}, got ${versionOf(manifest)}`);
  const expected = checksumOf(manifest);
  if (checksum !== expected) throw fail(`expected the checksum ${expected}, got ${checksum}`);
  const parsed = manifestSchema.safeParse(manifest);
  if (!parsed.success) throw fail(describeIssues(parsed.error.issues));
  return parsed.data;
}

/** Looked at first: the fields of a later version may be others, and the message should say why. */
function versionOf(manifest: unknown): unknown {
  return typeof manifest === 'object' && manifest !== null && 'formatVersion' in manifest
    ? manifest.formatVersion
    : undefined;
}

function checksumOf(manifest: unknown): string {
  const text = JSON.stringify(manifest) ?? '';
  return crc32(new TextEncoder().encode(text)).toString(16).padStart(8, '0');
}

/** The text of a manifest's file. */
export function formatManifest(manifest: Manifest): string {
  return `${JSON.stringify({ checksum: checksumOf(manifest), manifest }, undefined, 1)}\n`;
}

/** Commits: from the rename on, this is the index. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeFileAtomically(join(folder, MANIFEST), formatManifest(manifest));
}

/** Whether two manifests are of the same commit of the same index. */
export function isSameCommit(one: Manifest, other: Manifest): boolean {
  return one.id === other.id && one.generation === other.generation;
}

/** Documents that are not deleted. */
export function numLiveDocs({ segments }: Manifest): number {
  return segments.reduce((sum, { numDocs, numDeleted }) => sum + numDocs - numDeleted, 0);
}
