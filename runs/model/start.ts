/**
 * Where training begins: a sentence encoder with a head of its word embeddings, calibrated on a sample of the training documents.
 * It is useful as it is, without any training.
 *
 *     npm run build && npx tsx runs/model/start.ts WORK WORK/cut [--length 256] [--head tied]
 *
 * WORK has documents.jsonl (runs/model/prepare.ts); the encoder is a cut one (runs/model/cut.ts), or any other. Makes WORK/start,
 * with a pooled head, or WORK/start-tied.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { evenlySpaced } from '../../src/core/index.ts';
import { lzero } from '../lib/lzero.ts';
import { linesOf } from './evaluation.ts';
import { rows } from './sources.ts';

/** Documents that a head is calibrated on. */
const SAMPLE = 120;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { length: { type: 'string', default: '256' }, head: { type: 'string', default: 'pooled' } },
});
const [work, encoder] = positionals;
if (!work || !encoder) throw new Error('usage: npx tsx runs/model/start.ts WORK ENCODER');
const documents: { readonly _id: string; readonly text: string }[] = [];
for await (const { _id, text } of rows<{ _id: string; text: string }>(join(work, 'documents.jsonl')))
  documents.push({ _id, text });
const calibration = join(work, 'calibration.jsonl');
writeFileSync(calibration, linesOf(evenlySpaced(documents, SAMPLE)));
console.log(
  lzero(
    ...[
      'model',
      'import',
      encoder,
      '-o',
      join(work, values.head === 'pooled' ? 'start' : `start-${values.head}`),
      '--force',
    ],
    ...['--head', values.head, '--calibrate', calibration, '--activation', 'l0', '--encode-length', values.length],
  ),
);
