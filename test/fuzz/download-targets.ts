/** What servers send, and what downloads leave on disk, each with sound inputs to damage. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzip } from '../../src/download/index.ts';
import { PartialDownload } from '../../src/download/partial-download.ts';
import { chooseFiles, namedFiles } from '../../src/model/hub/choose-files.ts';
import { parseListing } from '../../src/model/hub/listing.ts';
import { listingOf } from '../http/local-hub.ts';
import { makeZip } from '../http/make-zip.ts';
import { mutateJson } from './mutate.ts';
import { type FuzzTarget, target, withFile } from './target.ts';

const ID = 'ocean/tiny-splade';
const URL = 'http://hub/file';

/** Parsers of archives, listings and notes. `folder` is theirs to write in. */
export function downloadTargets(folder: string): FuzzTarget[] {
  const output = join(folder, 'unzipped');
  const unpack = async (archive: string): Promise<void> => {
    rmSync(output, { recursive: true, force: true });
    await unzip(archive, output, { maxBytes: 1_000_000 });
  };
  return [
    target('zip', archiveSeeds(), { parse: withFile(join(folder, 'archive'), unpack) }),
    target('hub listing', [JSON.stringify(listing())], { mutate: mutateJson, parse: readListing }),
    target('hub modules', [JSON.stringify(ROUTER)], { mutate: mutateJson, parse: readModules }),
    target('.part.json', [JSON.stringify(note())], {
      mutate: mutateJson,
      parse: (bytes) => resume(join(folder, 'download'), bytes),
    }),
  ];
}

function archiveSeeds(): Buffer[] {
  const files = [
    { name: 'a/b.txt', text: 'hello hello hello' },
    { name: 'c', text: 'stored', isStored: true },
  ];
  return [
    makeZip(files),
    makeZip(
      files.map((file) => ({ ...file, isWide: true })),
      { isWide: true, comment: 'PK' },
    ),
  ];
}

function listing(): unknown {
  const files = {
    'config.json': Buffer.from('{}'),
    'model.safetensors': Buffer.from('weights'),
    'a/b.txt': Buffer.from(''),
  };
  return listingOf({ id: ID, commit: '1234567890abcdef1234567890abcdef12345678', files, large: ['model.safetensors'] });
}

async function readListing(bytes: Buffer): Promise<void> {
  const { files } = parseListing(bytes.toString(), { id: ID, revision: 'main' }, URL);
  chooseFiles(files.keys());
}

const ROUTER = {
  modules: [{ path: '', type: 'sentence_transformers.models.Router' }],
  router: { types: { query_0_Static: 'x', 'document_0_MLM/inner': 'y' } },
};

/** The two files that name folders, in one input. */
async function readModules(bytes: Buffer): Promise<void> {
  const text = bytes.toString();
  const whole = textOf(() => JSON.parse(text)) ?? {};
  const files: Readonly<Record<string, string>> = {
    'modules.json': JSON.stringify(Reflect.get(whole, 'modules')) ?? text,
    'router_config.json': JSON.stringify(Reflect.get(whole, 'router')) ?? text,
  };
  await namedFiles(async (path) => (path.endsWith('router_config.json') ? files['router_config.json'] : files[path]));
}

function textOf(parse: () => unknown): object | undefined {
  try {
    const value = parse();
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function note(): unknown {
  return { url: URL, validator: { etag: '"1"' }, totalBytes: 12, safeBytes: 6 };
}

/** A download that another one left unfinished, by a damaged note. */
async function resume(path: string, bytes: Buffer): Promise<void> {
  writeFileSync(`${path}.part`, 'eight by');
  writeFileSync(`${path}.part.json`, bytes);
  await (await PartialDownload.open(path, { url: URL, checksum: undefined })).close();
}
