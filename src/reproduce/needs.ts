/**
 * What a scale needs before anything can be trained: looked for, made where the package has it, fetched where there is a network.
 * What is neither there nor to be had is told as a whole, before anything is fetched. What is fetched is checked when it comes
 * (checksums); of what somebody has made, a file of lines that ends in the middle of one is refused.
 */
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, LzeroError, messageOf, type Progress, parseJson } from '../core/index.ts';
import { documentTexts, fetchCollection, findCollections, readDocuments } from '../data/index.ts';
import { exists, makeFolder, writeFileAtomically } from '../files/index.ts';
import { type HubSettings, loadModel, pullModel, resolveModel } from '../model/index.ts';
import { formatIdf, IdfCounter } from '../text/index.ts';
import { isEmbeddedInput, makeEmbeddedInput } from './embedded-inputs.ts';
import type { Need, ScaleConfig } from './scale.ts';

/** Code of the error below. */
export const MISSING_INPUTS = 'MISSING_INPUTS';

/** Something that a scale needs does not exist here. */
export class MissingInputsError extends LzeroError {
  constructor(missing: readonly Need[], { folder, cause }: { readonly folder: string; readonly cause?: unknown }) {
    const reason = cause === undefined ? '' : `: ${messageOf(cause)}`;
    super(MISSING_INPUTS, `${missing.length} of the inputs are missing${reason}\n${listOf(missing, folder)}`, {
      hint: 'bring what has to be made; what can be fetched is fetched by the same command where there is a network',
      cause,
    });
  }
}

/** Where inputs are looked for. */
export type InputPlaces = {
  /** Of the reproduction. */
  readonly folder: string;
  /** Its inputs. */
  readonly data: string;
  /** Models and collections that were fetched. */
  readonly cache: string;
};

/** How inputs are had. */
export type ProvideOptions = InputPlaces & {
  readonly hub: HubSettings;
  readonly signal?: AbortSignal | undefined;
  /** Shows a download. */
  readonly progress: () => Progress;
  /** Told what is made or fetched. */
  readonly onInput?: ((need: Need) => void) | undefined;
};

/** An input and where it is; undefined where it is missing. */
export type FoundNeed = { readonly need: Need; readonly path: string | undefined };

/** Looks for everything that a scale needs. */
export async function findNeeds({ needs }: Pick<ScaleConfig, 'needs'>, places: InputPlaces): Promise<FoundNeed[]> {
  return await Promise.all(
    needs.map(async (need) => {
      const path = await pathOf(need, places);
      return { need, path };
    }),
  );
}

/** Makes or fetches what is missing. Gives the paths of files and collections by the names that configurations call them. */
export async function provideNeeds(
  scale: Pick<ScaleConfig, 'needs'>,
  options: ProvideOptions,
): Promise<ReadonlyMap<string, string>> {
  const { folder, data, onInput = () => {} } = options;
  const missing = (await findNeeds(scale, options)).flatMap(({ need, path }) => (path === undefined ? [need] : []));
  if (missing.some(({ kind }) => kind === 'file') || (options.hub.isOffline && missing.some(isFetched)))
    throw new MissingInputsError(missing, { folder });
  makeFolder(data);
  for (const [i, need] of missing.entries()) {
    onInput(need);
    try {
      await provide(need, options);
    } catch (cause) {
      if (!isFetched(need) || options.signal?.aborted) throw cause;
      throw new MissingInputsError(missing.slice(i), { folder, cause });
    }
  }
  const found = await findNeeds(scale, options);
  return new Map(
    found.flatMap(({ need, path }) =>
      need.kind === 'model' || path === undefined
        ? []
        : [[need.kind === 'collection' ? need.name : need.path, path] as const],
    ),
  );
}

function isFetched({ kind }: Need): boolean {
  return kind === 'model' || kind === 'collection';
}

async function pathOf(need: Need, { data, cache }: InputPlaces): Promise<string | undefined> {
  if (need.kind === 'model')
    return await resolveModel(need.name, cache).then(
      ({ folder }) => folder,
      () => undefined,
    );
  const path = need.kind === 'collection' ? collectionFolder(need.name, cache) : join(data, need.path);
  if (!(await exists(path))) return undefined;
  if (need.kind === 'file' && path.endsWith('.jsonl')) await requireWholeLines(path);
  return path;
}

function collectionFolder(name: string, cache: string): string {
  return join(cache, 'collections', ...name.split('/'));
}

/** More than any line of scored lists has. */
const LAST_BYTES = 1 << 20;

/** Throws where a file of JSON lines has been cut off, by a copy or a download that did not come to its end. */
async function requireWholeLines(path: string): Promise<void> {
  const { size } = await stat(path);
  const file = await open(path);
  try {
    const length = Math.min(size, LAST_BYTES);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const last = buffer.toString('utf8').trimEnd().split('\n').at(-1) ?? '';
    parseJson(
      last,
      (problem) =>
        new InputError(`${path} ends in the middle of a line: ${problem}`, {
          hint: 'it was cut off on its way: make or copy it again',
        }),
    );
  } finally {
    await file.close();
  }
}

async function provide(need: Need, options: ProvideOptions): Promise<void> {
  const { cache, data, hub, signal, progress } = options;
  if (need.kind === 'model') await pullModel(need.name, { cache, hub, signal, progress: progress() });
  if (need.kind === 'collection')
    for (const collection of findCollections(need.name))
      await fetchCollection(collection, { cache, signal, progress: progress() });
  if (need.kind === 'idf') await makeIdf(collectionFolder(need.of, cache), join(data, need.path), options);
  if (need.kind === 'embedded' && isEmbeddedInput(need.path)) await makeEmbeddedInput(need.path, join(data, need.path));
}

/** As `lzero model idf` does it. */
async function makeIdf(
  collection: string,
  path: string,
  { signal, progress: show }: Pick<ProvideOptions, 'signal' | 'progress'>,
): Promise<void> {
  const { tokenizer } = await loadModel('bow');
  const counter = new IdfCounter(tokenizer);
  const progress = show();
  progress.start({ label: 'counting', unit: 'documents' });
  try {
    for await (const { text } of documentTexts(readDocuments(collection, { signal }))) {
      counter.add(text);
      progress.update(counter.numDocs);
    }
  } finally {
    progress.stop();
  }
  await writeFileAtomically(path, formatIdf(counter.table(), tokenizer.vocabulary));
}

/** One line an input: what it is, how large, and how to have it. */
export function describeNeed(need: Need, folder: string): string {
  switch (need.kind) {
    case 'embedded':
      return `${need.path}: ${need.about}; made of the package`;
    case 'file':
      return `${need.path}: ${need.about}, ${sizeOf(need)}; made by: ${need.made.replaceAll('FOLDER', folder)}`;
    case 'idf':
      return `${need.path}: ${need.about}; counted here, as by: lzero model idf of ${need.of}`;
    case 'model':
      return `${need.name}: ${need.about}, ${sizeOf(need)}; fetched as by: lzero model pull ${need.name}`;
    case 'collection':
      return `${need.name}: ${need.about}, ${sizeOf(need)}; fetched as by: lzero eval ${need.name}`;
    default:
      return need satisfies never;
  }
}

function sizeOf({ sizeBytes }: { readonly sizeBytes: number }): string {
  return sizeBytes >= 1e9 ? `about ${(sizeBytes / 1e9).toFixed(1)} GB` : `about ${Math.ceil(sizeBytes / 1e6)} MB`;
}

function listOf(needs: readonly Need[], folder: string): string {
  return needs.map((need) => `  ${describeNeed(need, folder)}`).join('\n');
}
