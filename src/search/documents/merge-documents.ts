/**
 * One documents file of several, without the deleted documents, in their order. Blocks without a deleted document are
 * copied as they are; others are unpacked one at a time.
 *
 * Every file is read once before, for its checksums: a wrong bit would be written with a checksum that fits, and never be
 * found again.
 */
import { IndexStateError } from '../../core/index.ts';
import type { Bitmap, MergeInput } from '../types.ts';
import { hasBit } from './bitmap.ts';
import type { BlockRange } from './blocks.ts';
import { DROPPED } from './columns.ts';
import { DocumentsReader } from './documents-reader.ts';
import { DocumentParts, type DocumentsOptions, type DocumentsSummary } from './documents-writer.ts';
import type { FieldSchema } from './fields.ts';

type Input = { readonly reader: DocumentsReader; readonly deleted: Bitmap | undefined };

/** Merges documents files. IndexFormatError where one is damaged, IndexStateError where its declared fields are others. */
export function mergeDocuments(inputs: readonly MergeInput[], options: DocumentsOptions): DocumentsSummary {
  const parts = new DocumentParts(options);
  for (const { source, deleted } of inputs) {
    const reader = new DocumentsReader(source, { codec: options.codec });
    requireFields(reader, options.fields);
    reader.file.verify();
    const input = { reader, deleted };
    copyBlocks(input, { parts, options });
    copyIds(input, parts);
  }
  return parts.finish();
}

function requireFields({ fields, file }: DocumentsReader, expected: FieldSchema): void {
  const names = Object.keys({ ...fields, ...expected });
  const different = names.find((name) => fields[name] !== expected[name]);
  if (different === undefined) return;
  throw new IndexStateError(
    `${file.source.label} was written with another declaration of the field ${JSON.stringify(different)}`,
    { hint: 'build the index anew' },
  );
}

function copyBlocks(
  { reader, deleted }: Input,
  { parts, options }: { readonly parts: DocumentParts; readonly options: DocumentsOptions },
): void {
  for (let index = 0; index < reader.blocks.size; index++) {
    const range = reader.blocks.range(index);
    if (isWhole(range, deleted) && parts.blocks.copy(range, reader.blocks.packed(range))) continue;
    const { lines } = reader.blocks.read(range, options.codec);
    lines.forEach((line, i) => {
      if (!isDeleted(deleted, range.firstDoc + i)) parts.blocks.add(line);
    });
  }
}

function isDeleted(deleted: Bitmap | undefined, docId: number): boolean {
  return deleted !== undefined && hasBit(deleted, docId);
}

function isWhole({ firstDoc, numDocs }: BlockRange, deleted: Bitmap | undefined): boolean {
  for (let docId = firstDoc; docId < firstDoc + numDocs; docId++) if (isDeleted(deleted, docId)) return false;
  return true;
}

/** Ids, pages and columns. */
function copyIds({ reader, deleted }: Input, parts: DocumentParts): void {
  const newDocIds = new Uint32Array(reader.numDocs);
  const pages = reader.pages.walk();
  let docId = 0;
  for (const id of reader.ids.walk()) {
    const { value: page } = pages.next();
    newDocIds[docId] = isDeleted(deleted, docId) ? DROPPED : parts.ids.size;
    if (newDocIds[docId] !== DROPPED) {
      parts.ids.addBytes(id);
      parts.pages.add(page ?? undefined);
    }
    docId++;
  }
  for (const [name, column] of parts.columns) column.append(reader.column(name), newDocIds);
}
