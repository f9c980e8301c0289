/**
 * Makes a shipped model of a trained one: with the lexical part and pruning that were tuned on the development sets, in
 * float32 as MODEL-tuned, which runs/model/table.ts measures, and in 8-bit codes as models/NAME. The card there stays, and is
 * to be brought up to date by hand.
 *
 *     npm run build && npx tsx runs/model/ship.ts MODEL NAME [--lexical gain:0.5] [--prune top-k:200] [--encode-length 256]
 *
 * What is not given stays as MODEL has it. Afterwards `npx tsx scripts/golden-shipped.ts` writes down what it gives.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { lzero } from '../lib/lzero.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { lexical: { type: 'string' }, prune: { type: 'string' }, 'encode-length': { type: 'string' } },
});
const [model, name] = positionals;
if (!model || !name) throw new Error('usage: npx tsx runs/model/ship.ts MODEL NAME [--lexical gain:0.5]');
const target = resolve(import.meta.dirname, '../../models', name);
const tuned = `${model.replace(/\/$/, '')}-tuned`;
const settings = Object.entries(values).flatMap(([key, value]) => [`--${key}`, String(value)]);
lzero('model', 'import', model, '-o', tuned, '--force', ...settings);
const work = mkdtempSync(join(tmpdir(), 'lzero-ship-'));
try {
  console.log(lzero('model', 'quantize', tuned, '-o', join(work, name)));
  const isOurs = (file: string): boolean => file === 'README.md'; // the card is written by hand
  for (const file of readdirSync(target).filter((file) => !isOurs(file))) rmSync(join(target, file));
  for (const file of readdirSync(join(work, name)).filter((file) => !isOurs(file)))
    cpSync(join(work, name, file), join(target, file));
} finally {
  rmSync(work, { recursive: true });
}
