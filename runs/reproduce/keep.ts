/**
 * What a reproduction has measured so far, as one small file: NDCG@10 of each query of each point, so that the report can be made
 * again, and the points that are left be trained on another machine, without training the others again.
 *
 *     npx tsx runs/reproduce/keep.ts save FOLDER [FILE]       FOLDER -> FILE (runs/reproduce/small.json.br)
 *     npx tsx runs/reproduce/keep.ts restore FOLDER [FILE]    back; files that FOLDER has already are left as they are
 *
 * The report can be made of a folder of any name. To go on training, call it as it was called then, from the folder that has it: results
 * know the paths of what they were trained on. Models and training data are not kept: prepare.ts makes the data again.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeFileAtomically } from '../../src/files/index.ts';
import { packed, unpack } from '../lib/kept-results.ts';

const [verb, folder, file = resolve(import.meta.dirname, 'small.json.br')] = process.argv.slice(2);
if (!folder || !['save', 'restore'].includes(verb))
  throw new Error('usage: npx tsx runs/reproduce/keep.ts save|restore FOLDER [FILE]');
if (verb === 'save') {
  const { bytes, numFiles } = packed(folder);
  await writeFileAtomically(file, bytes);
  console.log(`${numFiles} files in ${bytes.length} bytes: ${file}`);
} else console.log(`${unpack(readFileSync(file), folder)} files restored`);
