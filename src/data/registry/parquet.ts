/**
 * Rows of a Parquet file, by the optional package hyparquet (MIT, no dependencies), and their BEIR files. The only place
 * that knows the package.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { DownloadError, describeIssues, MissingDependencyError, messageOf } from '../../core/index.ts';
import { writeFileAtomically } from '../../files/index.ts';

/** Reads all rows of a file. */
export type ReadParquet = (path: string) => Promise<readonly unknown[]>;

/** The package is not a dependency of lzero: its name must not be one that a bundler or the compiler looks up. */
const PACKAGE: string = 'hyparquet';

/** What is used of it. */
type Hyparquet = {
  readonly parquetReadObjects: (source: { readonly file: ArrayBuffer }) => Promise<readonly unknown[]>;
};

function isHyparquet(loaded: unknown): loaded is Hyparquet {
  return typeof loaded === 'object' && loaded !== null && 'parquetReadObjects' in loaded;
}

/** A reader of Parquet files, or a MissingDependencyError that says how to get one. */
export async function loadParquetReader(
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<ReadParquet> {
  const loaded = await load(PACKAGE).catch((cause: unknown) => {
    throw new MissingDependencyError(`this collection comes as Parquet, which needs the package ${PACKAGE}`, {
      hint: `run: npm install ${PACKAGE}   (or convert the files to a BEIR folder by other means)`,
      cause,
    });
  });
  if (!isHyparquet(loaded))
    throw new MissingDependencyError(`${PACKAGE} is here, but has no parquetReadObjects`, {
      hint: `run: npm install ${PACKAGE}@1`,
    });
  return async (path) => {
    const { buffer, byteOffset, byteLength } = await readFile(path);
    const file = new ArrayBuffer(byteLength);
    new Uint8Array(file).set(new Uint8Array(buffer, byteOffset, byteLength));
    return await loaded.parquetReadObjects({ file });
  };
}

const textRow = z.object({ _id: z.string().min(1), text: z.string() });
const judgementRow = z.object({ 'query-id': z.string().min(1), 'corpus-id': z.string().min(1) });

/** The three files of a collection, as Parquet. */
export type ParquetFiles = { readonly corpus: string; readonly queries: string; readonly qrels: string };

/** Writes a BEIR folder from Parquet files. Judgements without a grade are of grade 1. */
export async function writeBeirFolder(
  files: ParquetFiles,
  folder: string,
  { split, readParquet }: { readonly split: string; readonly readParquet: ReadParquet },
): Promise<void> {
  const documents = await readRows(files.corpus, textRow, readParquet);
  const queries = await readRows(files.queries, textRow, readParquet);
  const judgements = await readRows(files.qrels, judgementRow, readParquet);
  await writeLines(
    join(folder, 'corpus.jsonl'),
    documents.map(({ _id, text }) => JSON.stringify({ _id, title: '', text })),
  );
  await writeLines(
    join(folder, 'queries.jsonl'),
    queries.map(({ _id, text }) => JSON.stringify({ _id, text })),
  );
  const rows = judgements.map((row) => `${row['query-id']}\t${row['corpus-id']}\t1`);
  await writeLines(join(folder, 'qrels', `${split}.tsv`), ['query-id\tcorpus-id\tscore', ...rows]);
}

async function readRows<T>(path: string, schema: z.ZodType<T>, readParquet: ReadParquet): Promise<T[]> {
  let rows: readonly unknown[];
  try {
    rows = await readParquet(path);
  } catch (cause) {
    throw new DownloadError(`${path} is not a Parquet file that can be read: ${messageOf(cause)}`, { cause });
  }
  const parsed = z.array(schema).safeParse(rows);
  if (!parsed.success) throw new DownloadError(`${path}: ${describeIssues(parsed.error.issues.slice(0, 3))}`);
  return parsed.data;
}

async function writeLines(path: string, lines: readonly string[]): Promise<void> {
  await writeFileAtomically(path, lines.map((line) => `${line}\n`).join(''));
}
