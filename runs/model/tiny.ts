/**
 * Trains the tiny model and gives it a head: the student of runs/model/tiny-start.ts learns what its teacher says of texts as a
 * whole, and reads terms off it by the vectors that the embedded model has for them.
 *
 *     npm run build && npx tsx runs/model/tiny.ts WORK [--gain 0.13] [--set key=value …] [--from ENCODER]
 *
 * Settings: configs/tiny.yaml; --from takes an encoder as it is, such as WORK/tiny/start. Everything stays in WORK/tiny; the same call goes on
 * where one was stopped. What came of it was not worth shipping (docs/EXPERIMENTS.md, ninth sitting); runs/model/ship.ts would make a shipped
 * model of WORK/tiny/model.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { evenlySpaced } from '../../src/core/index.ts';
import { importModel, openSafetensors, TOPIC } from '../../src/model/index.ts';
import { LEXICAL_DEFAULTS } from '../../src/model/lexical.ts';
import type { Rows } from '../../src/model/pooled-matrix.ts';
import { trainOnce } from '../lib/train-once.ts';
import { splitDocuments } from './held-out.ts';
import { rows } from './sources.ts';
import { TINY_LENGTH, tinyPlaces } from './tiny-places.ts';

const CONFIG = resolve(import.meta.dirname, '../../configs/tiny.yaml');
/** Documents that thresholds are set on. */
const SAMPLE = 1_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string' },
    gain: { type: 'string', default: '0.13' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [work] = positionals;
if (!work) throw new Error('usage: npx tsx runs/model/tiny.ts WORK [--gain 0.13] [--from ENCODER]');
const places = tinyPlaces(work);
const encoder = values.from ?? (await trained());
await importModel({
  source: encoder,
  output: places.model,
  force: true,
  head: 'topic',
  terms: { made: await termVectors() },
  calibration: await sample(),
  activation: 'relu',
  encodeLength: 256,
  lexical: { ...LEXICAL_DEFAULTS, gain: Number(values.gain), minIdf: 2 },
});
console.log(places.model);

async function trained(): Promise<string> {
  const { learned, heldOut } = await splitDocuments(work);
  const minutes = trainOnce(CONFIG, places.run, [
    `model.base=${places.start}`,
    `data.train=${learned}`,
    `teachers.models=${JSON.stringify([`dense:${places.teacher},max-length=${TINY_LENGTH},precision=int8`])}`,
    `teachers.memory=${join(work, 'teachers')}`,
    `evaluate.documents=${heldOut}`,
    ...values.set,
  ]);
  console.log(`${minutes.toFixed(0)} minutes of training`);
  return join(places.run, 'model');
}

async function termVectors(): Promise<Rows> {
  const file = await openSafetensors(places.terms);
  try {
    const width = file.tensors.get(TOPIC.terms)?.shape[1] ?? 0;
    return { data: await file.readFloat32(TOPIC.terms), width };
  } finally {
    await file.close();
  }
}

async function sample(): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of rows<{ readonly text: string }>(join(work, 'documents.jsonl'))) texts.push(text);
  return evenlySpaced(texts, SAMPLE);
}
