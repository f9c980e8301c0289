/**
 * MiniLM with a tied head encodes all of SciFact, twice: the two outputs must have the same bytes.
 *
 *     npm run build && npx tsx runs/scifact-same-bytes.ts DATA CHECKPOINT
 *
 * DATA is the unpacked folder of real data, CHECKPOINT the Hugging Face folder of all-MiniLM-L6-v2. Each round imports
 * the checkpoint, calibrates its head and encodes 5,183 documents with the command line, about three minutes on two
 * cores. Prints the sha256 of both outputs; exits with 1 if they differ.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const CLI = resolve(import.meta.dirname, '../dist/cli/main.js');

function lzero(...args: string[]): void {
  execFileSync(process.execPath, [CLI, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
}

function encodeOnce(scratch: string, corpus: string, checkpoint: string): string {
  const [model, output] = [join(scratch, 'model'), join(scratch, 'vectors.jsonl')];
  lzero('model', 'import', checkpoint, '-o', model, '--head', 'tied', '--calibrate', corpus);
  lzero('encode', corpus, '-o', output, '--model', model);
  const vectors = readFileSync(output);
  const numLines = vectors.reduce((count, byte) => count + (byte === 10 ? 1 : 0), 0);
  const hash = createHash('sha256').update(vectors).digest('hex');
  console.log(`${hash}  ${numLines} documents, ${vectors.length} bytes`);
  return hash;
}

const [data, checkpoint] = process.argv.slice(2);
if (!data || !checkpoint) throw new Error('usage: npx tsx runs/scifact-same-bytes.ts DATA CHECKPOINT');
const hashes = ['first', 'second'].map(() => {
  const scratch = mkdtempSync(join(tmpdir(), 'lzero-scifact-'));
  try {
    return encodeOnce(scratch, join(data, 'collections/beir/scifact'), checkpoint);
  } finally {
    rmSync(scratch, { recursive: true });
  }
});
console.log(hashes[0] === hashes[1] ? 'same bytes' : 'DIFFERENT bytes');
process.exitCode = hashes[0] === hashes[1] ? 0 : 1;
