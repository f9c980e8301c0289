/**
 * Writes the test vectors of the bag of words that test/golden/check holds, for other implementations and for ourselves
 * (docs/TEST-VECTORS.md).
 *
 *     npx tsx scripts/golden-check.ts          made on 2026-11-16 with lzero 0.1.0
 *
 * writes test/golden/check/bow.json. It changes when the embedded model, the kit's texts or the format change.
 */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sampleTexts, vectorTexts } from '../src/cli/check-sample.ts';
import { writeFileAtomically } from '../src/files/index.ts';
import { formatTestVectors, testVectorsOf } from '../src/model/index.ts';

const FOLDER = resolve(import.meta.dirname, '../test/golden/check');

await mkdir(FOLDER, { recursive: true });
const vectors = await testVectorsOf('bow', { texts: vectorTexts(await sampleTexts()) });
await writeFileAtomically(join(FOLDER, 'bow.json'), formatTestVectors(vectors));
