/**
 * Makes a shipped model of a trained one: with the lexical part and pruning that were tuned on the development sets, in
 * float32 as MODEL-tuned, and in codes as models/NAME, which takes the place of the one that is there whole or not at all. The card there
 * stays, and is to be brought up to date by hand.
 *
 *     npm run build && npx tsx runs/model/ship.ts MODEL NAME [--lexical gain:0.5] [--prune top-k:200] \
 *         [--encode-length 256] [--floor 0.5] [--tables 4bit] [--feed-forward 4bit]
 *
 * What is not given stays as MODEL has it; --floor is the query weight below which tokens are left out of queries, --tables
 * and --feed-forward are for `lzero model quantize`. Afterwards `npx tsx scripts/golden-shipped.ts` writes down what it gives.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BAG_OF_WORDS } from '../../src/model/embedded-model.ts';
import { copyFiles, makeFolder } from '../../src/model/folder-output.ts';
import { readModelFolder } from '../../src/model/index.ts';
import { formatIdf } from '../../src/text/index.ts';
import { lzero } from '../lib/lzero.ts';
import { aboveFloor } from './query-floor.ts';

/** Written by hand. */
const CARD = 'README.md';
/** Says the same as vocab.txt and the settings beside it, in three times the bytes. */
const TOKENIZER = 'tokenizer.json';
const TOKENIZER_CONFIG = 'tokenizer_config.json';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    lexical: { type: 'string' },
    prune: { type: 'string' },
    'encode-length': { type: 'string' },
    floor: { type: 'string', default: '0' },
    tables: { type: 'string', default: '8bit' },
    'feed-forward': { type: 'string', default: '8bit' },
  },
});
const [model, name] = positionals;
if (!model || !name) throw new Error('usage: npx tsx runs/model/ship.ts MODEL NAME [--lexical gain:0.5]');
const target = resolve(import.meta.dirname, '../../models', name);
const tuned = `${model.replace(/\/$/, '')}-tuned`;
const { floor, tables, 'feed-forward': feedForward, ...given } = values;
const settings = Object.entries(given).flatMap(([key, value]) => [`--${key}`, value]);
const work = mkdtempSync(join(tmpdir(), 'lzero-ship-'));
try {
  const { idf, tokenizer } = await readModelFolder(model);
  writeFileSync(join(work, 'idf.json'), formatIdf(aboveFloor(idf, Number(floor)), tokenizer.vocabulary));
  lzero('model', 'import', model, '-o', tuned, '--force', '--idf', join(work, 'idf.json'), ...settings);
  console.log(
    lzero('model', 'quantize', tuned, '-o', join(work, name), '--tables', tables, '--feed-forward', feedForward),
  );
  const made = join(work, name);
  await makeFolder(target, { inputs: [made], force: true }, async (folder) => {
    const others = readdirSync(made).filter((file) => ![CARD, TOKENIZER, TOKENIZER_CONFIG].includes(file));
    await copyFiles(made, folder, others);
    await copyFiles(BAG_OF_WORDS, folder, [TOKENIZER_CONFIG]);
    await copyFiles(target, folder, [CARD]);
  });
} finally {
  rmSync(work, { recursive: true });
}
