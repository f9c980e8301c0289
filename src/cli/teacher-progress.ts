/** Progress of work that a teacher does: texts that it has encoded. */
import type { ScoreOptions } from '../teach/index.ts';
import type { CliContext } from './context.ts';
import { formatCounted } from './format.ts';

/** How other work says what a teacher does meanwhile. */
export function encodedTexts(numEncoded: number): string {
  return `${formatCounted(numEncoded, 'text')} encoded`;
}

/** Shows how many texts have a vector. Those that needed no encoding are no part of the rate, as far as they come first. */
export async function withTeacherProgress<T>(
  context: CliContext,
  { label, total }: { readonly label: string; readonly total?: number | undefined },
  work: (told: Pick<ScoreOptions, 'onKnown' | 'onProgress'>) => Promise<T>,
): Promise<T> {
  const progress = context.progress();
  let numKnown = 0;
  let numEncoded = 0;
  const begin = (): void => progress.start({ label, unit: 'texts', total, done: numKnown });
  const show = (): void => progress.update(numKnown + numEncoded);
  begin();
  try {
    return await work({
      onKnown: (more) => {
        numKnown += more;
        if (numEncoded === 0) begin();
        else show();
      },
      onProgress: (count) => {
        numEncoded = count;
        show();
      },
    });
  } finally {
    progress.stop();
  }
}
