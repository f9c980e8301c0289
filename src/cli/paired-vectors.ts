/** Documents beside stored vectors of theirs, which stand in the same order, as `encode` writes them. */
import { InputError } from '../core/index.ts';
import { type Document, readVectors, type VectorRecord } from '../data/index.ts';

/** How the file of vectors is read. */
type ReadOptions = { readonly skipBad: boolean | undefined; readonly signal: AbortSignal };

/** Each document with its vector; one that is missing, another's, or left over is an error. */
export async function* withRecords(
  documents: AsyncIterable<Document>,
  file: string,
  options: ReadOptions,
): AsyncGenerator<{ readonly document: Document; readonly record: VectorRecord }> {
  const vectors = readVectors(file, options)[Symbol.asyncIterator]();
  const nextVector = async (expected: string | undefined): Promise<VectorRecord> => {
    const { value } = await vectors.next();
    if (value?.id === expected) return value;
    const stands = expected === undefined ? 'the input has ended' : `${expected} stands`;
    throw new InputError(`${file} has ${value ? `the vector of ${value.id}` : 'no vector'} where ${stands}`, {
      hint: 'vectors must be those of the input, in its order: lzero encode writes them so',
    });
  };
  try {
    for await (const document of documents) yield { document, record: await nextVector(document.id) };
    await nextVector(undefined);
  } finally {
    await vectors.return?.(); // or the file stays open
  }
}
