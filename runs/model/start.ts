/**
 * Where training begins: MiniLM with a head of its word embeddings, calibrated on a sample of the training documents. It is
 * useful as it is, without any training.
 *
 *     npm run build && npx tsx runs/model/start.ts WORK WEIGHTS [--length 256] [--head tied]
 *
 * WORK has documents.jsonl (runs/model/prepare.ts), WEIGHTS minilm-l6. Makes WORK/start, with a pooled head, or WORK/start-tied.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { evenlySpaced } from '../lib/evenly-spaced.ts';
import { lzero } from '../lib/lzero.ts';
import { linesOf } from './evaluation.ts';
import { rows } from './sources.ts';

/** Documents that a head is calibrated on. */
const SAMPLE = 120;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { length: { type: 'string', default: '256' }, head: { type: 'string', default: 'pooled' } },
});
const [work, weights] = positionals;
if (!work || !weights) throw new Error('usage: npx tsx runs/model/start.ts WORK WEIGHTS');
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
      join(weights, 'minilm-l6'),
      '-o',
      join(work, values.head === 'pooled' ? 'start' : `start-${values.head}`),
      '--force',
    ],
    ...['--head', values.head, '--calibrate', calibration, '--activation', 'l0', '--encode-length', values.length],
  ),
);
