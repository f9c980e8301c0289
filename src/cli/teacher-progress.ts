/** Progress of work that a teacher does: texts that it has encoded. */
import type { CliContext } from './context.ts';

/** Shows how many texts are encoded while a stream is read. What is remembered from earlier counts as nothing. */
export async function* withTeacherProgress<T>(
  context: CliContext,
  { label, total }: { readonly label: string; readonly total?: number | undefined },
  work: (onProgress: (numEncoded: number) => void) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const progress = context.progress();
  progress.start({ label, unit: 'texts', total });
  try {
    yield* work((numEncoded) => progress.update(numEncoded));
  } finally {
    progress.stop();
  }
}
