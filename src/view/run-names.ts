/** What runs are called on a page: by the last part of their path, and by as many before it as it takes to tell them apart. */
import { resolve, sep } from 'node:path';

/** A name for each folder: the shortest tail of its path that no other path ends with. The same folder has the same name. */
export function runNames(folders: readonly string[]): string[] {
  const paths = folders.map((folder) => resolve(folder));
  const numPaths = new Map<string, number>(); // that end with a tail
  for (const tail of [...new Set(paths)].flatMap(tailsOf)) numPaths.set(tail, (numPaths.get(tail) ?? 0) + 1);
  return paths.map((path) => tailsOf(path).find((tail) => numPaths.get(tail) === 1) ?? path);
}

/** From the last part to the whole path, which begins with a separator and so is the tail of no other. */
function tailsOf(path: string): string[] {
  const parts = path.split(sep);
  return parts.map((_, i) => parts.slice(-1 - i).join(sep)).filter((tail) => tail !== '');
}
