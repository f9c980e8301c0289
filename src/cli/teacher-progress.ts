/** Progress of work that a teacher does: texts that it has encoded. */
import type { CliContext } from './context.ts';
import { formatCounted } from './format.ts';

/** How other work says what a teacher does meanwhile. */
export function encodedTexts(numEncoded: number): string {
  return `${formatCounted(numEncoded, 'text')} encoded`;
}

/** Shows how many texts are encoded. What is remembered from earlier counts as nothing. */
export async function withTeacherProgress<T>(
  context: CliContext,
  { label, total }: { readonly label: string; readonly total?: number | undefined },
  work: (onProgress: (numEncoded: number) => void) => Promise<T>,
): Promise<T> {
  const progress = context.progress();
  progress.start({ label, unit: 'texts', total });
  try {
    return await work((numEncoded) => progress.update(numEncoded));
  } finally {
    progress.stop();
  }
}
