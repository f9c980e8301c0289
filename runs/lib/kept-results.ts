/** The measurements in the folder of a reproduction as compressed bytes, and back. Knows nothing of what they say. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

/** What a report is made of, and how such files end: settings, results, BM25; what is only half written ends otherwise. */
const FOLDERS = [
  { path: 'configs', ending: '.yaml' },
  { path: 'sweep/results', ending: '.json' },
  { path: 'bm25', ending: '.json' },
];
/** What was typed. */
const COMMANDS = 'commands.txt';

/** Everything of a folder that is kept. */
export function packed(folder: string): { readonly bytes: Buffer; readonly numFiles: number } {
  const found = FOLDERS.flatMap(({ path, ending }) =>
    namesIn(join(folder, path))
      .filter((name) => name.endsWith(ending))
      .map((name) => `${path}/${name}`),
  );
  if (found.length === 0) throw new Error(`${folder} has no measurements to keep`);
  const paths = existsSync(join(folder, COMMANDS)) ? [...found, COMMANDS] : found;
  const texts = Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
  return { bytes: brotliCompressSync(JSON.stringify(texts)), numFiles: paths.length };
}

/** Writes what is missing, and gives how many files that were. */
export function unpack(bytes: Buffer, folder: string): number {
  const texts: Readonly<Record<string, string>> = JSON.parse(brotliDecompressSync(bytes).toString('utf8'));
  const missing = Object.entries(texts).filter(([path]) => !existsSync(join(folder, path)));
  for (const [path, text] of missing) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.part`, text);
    renameSync(`${file}.part`, file);
  }
  return missing.length;
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
