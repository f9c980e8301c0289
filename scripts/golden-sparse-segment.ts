/**
 * Makes the sparse segment that every test run opens, for the format as it is now. When the version changes, the files of
 * older versions stay, and are still opened.
 *
 *     npx tsx scripts/golden-sparse-segment.ts
 */
import { writeFileSync } from 'node:fs';
import { goldenDocuments, goldenFile } from '../test/golden/search/golden-segment.ts';
import { segmentBytes } from '../test/lib/sparse-segments.ts';

const path = goldenFile(1);
writeFileSync(path, segmentBytes(goldenDocuments(), 64));
console.log(`wrote ${path}`);
