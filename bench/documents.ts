/**
 * The documents file of a segment: how fast it opens, finds an id, reads a hit and evaluates a filter, and its size.
 *
 *     npx tsx bench/documents.ts [--docs 100000] [--json results.json]
 *
 * Documents are 120 words drawn by rank from a vocabulary of 20,000 with a fixed seed, with a language, a year and a page
 * of four chunks. The file is on disk and read by position; it was just written, so the system has it in memory. The
 * bar: a million documents open in 100 ms.
 */
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../src/core/index.ts';
import {
  type ByteSource,
  compileFilter,
  DocumentsReader,
  type FieldSchema,
  mergeDocuments,
  type StoredDocument,
  verifyDocuments,
  writeDocuments,
} from '../src/search/index.ts';
import { codec } from '../test/search/memory.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atMost, type Part, printPart, type Row, writeResults } from './lib/report.ts';
import { spread } from './lib/statistics.ts';

const FIELDS: FieldSchema = { lang: 'keyword', year: 'number' };
const LANGUAGES = ['en', 'de', 'fr', 'ja'];
const WORDS = 120;
const VOCABULARY = 20_000;
const ROUNDS = 11;
const LOOKUPS = 1000;
const BAR_MS = 100;

function* drawn(numDocs: number): Generator<StoredDocument> {
  const random = new Random(4);
  for (let i = 0; i < numDocs; i++) {
    const words = Array.from({ length: WORDS }, () => Math.floor(VOCABULARY ** random.uniform()).toString(36));
    const fields = { lang: LANGUAGES[random.below(4)], year: 1990 + random.below(35) };
    yield { id: `page-${i >> 2}#${i & 3}`, text: words.join(' '), fields, page: `page-${i >> 2}`, chunk: i & 3 };
  }
}

function fileSource(path: string): ByteSource & { close(): void } {
  const fd = openSync(path, 'r');
  return {
    label: path,
    sizeBytes: fstatSync(fd).size,
    read(offset, length) {
      const bytes = new Uint8Array(length);
      readSync(fd, bytes, 0, length, offset);
      return bytes;
    },
    close: () => closeSync(fd),
  };
}

function writeFile(path: string, write: (sink: { write(bytes: Uint8Array): void }) => unknown): number {
  const fd = openSync(path, 'w');
  const start = performance.now();
  write({ write: (bytes) => writeSync(fd, bytes) });
  closeSync(fd);
  return performance.now() - start;
}

/** Time of one call, over some rounds. `scale` turns milliseconds a round into the unit. */
function timed(name: string, unit: string, { scale, run }: { scale: number; run: () => unknown }): Row {
  const times: number[] = [];
  for (let round = -2; round < ROUNDS; round++) {
    const start = performance.now();
    run();
    if (round >= 0) times.push((performance.now() - start) * scale);
  }
  return { name, unit, value: spread(times) };
}

function measure(path: string, numDocs: number): Part {
  const source = fileSource(path);
  const open = (): DocumentsReader => new DocumentsReader(source, { codec });
  const reader = open();
  const random = new Random(5);
  const docIds = Array.from({ length: LOOKUPS }, () => random.below(numDocs));
  const ids = docIds.map((docId) => reader.idOf(docId));
  const each = { scale: 1000 / LOOKUPS };
  const opening = timed('open, and the first hit', 'ms', { scale: 1, run: () => open().document(docIds[0]) });
  const filtered = (): unknown => compileFilter({ lang: 'en', year: { gte: 2010 } }, FIELDS)(open());
  const rows = [
    opening,
    timed('id → number, there', 'µs', { ...each, run: () => ids.map((id) => reader.docIdOf(id)) }),
    timed('id → number, not there', 'µs', { ...each, run: () => ids.map((id) => reader.docIdOf(`${id}?`)) }),
    timed('number → id', 'µs', { ...each, run: () => docIds.map((docId) => reader.idOf(docId)) }),
    timed('number → page', 'µs', { ...each, run: () => docIds.map((docId) => reader.pageOf(docId)) }),
    timed('document, block not kept', 'µs', { ...each, run: () => docIds.map((docId) => reader.document(docId)) }),
    timed('filter on keyword and number, first use', 'ms', { scale: 1, run: filtered }),
    { name: 'size', unit: 'bytes a document', value: spread([source.sizeBytes / numDocs]) },
  ];
  const verifyStart = performance.now();
  verifyDocuments(source, { codec });
  rows.push({ name: 'verify', unit: 's', value: spread([(performance.now() - verifyStart) / 1000]) });
  source.close();
  const claims = [atMost('open, and the first hit', opening.value.median, { limit: BAR_MS, unit: 'ms' })];
  return { title: `${numDocs} documents of ${WORDS} words`, rows, claims };
}

function writing(folder: string, numDocs: number): Part {
  const path = join(folder, 'documents');
  const writeMs = writeFile(path, (sink) => writeDocuments(drawn(numDocs), { fields: FIELDS, sink, codec }));
  const source = fileSource(path);
  const deleted = new Uint8Array(Math.ceil(numDocs / 8));
  const input = { source, deleted };
  const merged = join(folder, 'merged');
  const mergeMs = writeFile(merged, (sink) => mergeDocuments([input], { fields: FIELDS, sink, codec }));
  source.close();
  const rows = [
    { name: 'write, drawing of words included', unit: 'documents/s', value: spread([(numDocs / writeMs) * 1000]) },
    { name: 'merge, none deleted', unit: 'documents/s', value: spread([(numDocs / mergeMs) * 1000]) },
  ];
  return { title: 'Writing', rows, claims: [] };
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'string' }, docs: { type: 'string', default: '100000' } } });
  const numDocs = Number(values.docs);
  const where = await circumstances();
  console.log(`${describe(where)}\n${ROUNDS} rounds: median (least … most)`);
  const folder = mkdtempSync(join(tmpdir(), 'lzero-bench-'));
  try {
    const parts = [writing(folder, numDocs), measure(join(folder, 'documents'), numDocs)];
    for (const part of parts) printPart(part);
    if (values.json) writeResults(values.json, where, parts);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await main();
