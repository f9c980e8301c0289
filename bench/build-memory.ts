/**
 * Memory of building an index: does it stay below one gigabyte, however many documents there are?
 *
 *     npx tsx bench/build-memory.ts [--docs 500000] [--json results.json]
 *
 * Documents are drawn while they are added, 285 weights and 60 words each, so nothing but the index holds on to them. A
 * process of its own builds, commits and merges; its largest resident size is taken at every tenth of the way. Shown are
 * the size after the first tenth, at the end, and the rate.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random, sparseVector } from '../src/core/index.ts';
import { createIndex, type EngineDocument } from '../src/engines/index.ts';
import { loadModel } from '../src/model/index.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atMost, printPart, writeResults } from './lib/report.ts';
import { spread } from './lib/statistics.ts';

const VOCABULARY = 30_522;
const WEIGHTS = 285;
const WORDS = 60;
const LIMIT_MB = 1000;
const MB = 1e6;

const { values } = parseArgs({ options: { docs: { type: 'string', default: '500000' }, json: { type: 'string' } } });
const numDocs = Number(values.docs);

/** A term by Zipf's law, about. */
function drawTerm(random: Random): number {
  return Math.min(VOCABULARY - 1, Math.floor(VOCABULARY ** random.uniform()) - 1);
}

function* drawn(): Generator<EngineDocument> {
  const random = new Random(7);
  for (let i = 0; i < numDocs; i++) {
    const terms = [...new Set(Array.from({ length: WEIGHTS * 2 }, () => drawTerm(random)))].slice(0, WEIGHTS);
    const vector = sparseVector(
      terms,
      terms.map(() => 0.05 + random.uniform() ** 3),
    );
    const text = Array.from({ length: WORDS }, () => drawTerm(random).toString(36)).join(' ');
    yield { id: `d${i}`, text, vector };
  }
}

/** Largest resident size of this process so far. */
function peakMb(): number {
  return (process.resourceUsage().maxRSS * 1024) / MB;
}

const folder = mkdtempSync(join(tmpdir(), 'lzero-build-memory-'));
try {
  const where = await circumstances();
  console.log(describe(where));
  const index = await createIndex(join(folder, 'index'), { model: await loadModel('bow') });
  const started = performance.now();
  const peaks: number[] = [];
  let added = 0;
  const watched = function* (): Generator<EngineDocument> {
    for (const document of drawn()) {
      if (added > 0 && added % (numDocs / 10) === 0) peaks.push(peakMb());
      added++;
      yield document;
    }
  };
  await index.add(watched());
  await index.commit();
  const seconds = (performance.now() - started) / 1000;
  const { sizeBytes = 0 } = await index.stats();
  await index.close();
  const last = peakMb();
  const row = (name: string, value: number, unit: string) => ({ name, unit, value: spread([value]) });
  const part = {
    title: `Building ${numDocs} documents, drawn on the way`,
    rows: [
      row('largest memory after a tenth', peaks[0], 'MB'),
      row('largest memory at the end', last, 'MB'),
      row('index on disk', sizeBytes / MB, 'MB'),
      row('documents, drawing included', numDocs / seconds, 'a second'),
    ],
    claims: [atMost('memory', last, { limit: LIMIT_MB, unit: 'MB' })],
  };
  printPart(part);
  if (values.json) writeResults(values.json, where, [part]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
