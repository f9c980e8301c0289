/** All parsers of files from elsewhere, each with sound inputs to damage. What they may throw is checked elsewhere. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readModelFolder } from '../../src/model/model-folder.ts';
import { writeRouterFolder } from '../lib/sparse-encoder-folder.ts';
import { downloadTargets } from './download-targets.ts';
import { mutateJson } from './mutate.ts';
import { type FuzzTarget, target } from './target.ts';
import { textTargets } from './text-targets.ts';
import { weightTargets } from './weight-targets.ts';

/** All parsers. `folder` is theirs to write in. */
export async function fuzzTargets(folder: string): Promise<FuzzTarget[]> {
  return [
    ...(await weightTargets(folder)),
    ...downloadTargets(folder),
    ...textTargets(folder),
    ...(await folderTargets(folder)),
  ];
}

/** Folders of models of which one small file is damaged at a time. */
async function folderTargets(folder: string): Promise<FuzzTarget[]> {
  const model = join(folder, 'sentence-transformers');
  mkdirSync(model);
  await writeRouterFolder(model, '6');
  return [...smallFiles(model)].map((name) => {
    const path = join(model, name);
    const sound = readFileSync(path);
    const parse = async (bytes: Buffer): Promise<void> => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
      try {
        await readModelFolder(model);
      } finally {
        writeFileSync(path, sound);
      }
    };
    return target(`folder: ${name}`, [sound], { mutate: mutateJson, parse });
  });
}

function* smallFiles(folder: string): Generator<string> {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
    if (name.endsWith('.json')) yield name;
}
