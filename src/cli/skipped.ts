/** Tells what a reader left out: empty records, and bad lines or pages with the first few of them. */
import type { Logger } from '../core/index.ts';
import { MAX_COMPARED_IDS, type ReadReport } from '../data/index.ts';
import { formatCount } from './format.ts';

/** Logs what was left out; nothing where nothing was. */
export function reportSkipped(logger: Logger, { numRead, numEmpty, numBad, examples }: ReadReport): void {
  if (numRead > MAX_COMPARED_IDS)
    logger.info(
      `ids were compared with the first ${formatCount(MAX_COMPARED_IDS)} only: of equal ones beyond, the later counts`,
    );
  if (numEmpty > 0) logger.info(`${formatCount(numEmpty)} without text were left out`);
  if (numBad > 0)
    logger.warn(`${formatCount(numBad)} bad ${examples[0]?.line === undefined ? 'pages' : 'lines'} were left out`);
  for (const { file, line, message } of examples)
    logger.warn(`  ${file}${line === undefined ? '' : `:${line}`}: ${message}`);
  if (numBad > examples.length && examples.length > 0)
    logger.warn(`  and ${formatCount(numBad - examples.length)} more`);
}
