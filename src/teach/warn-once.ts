/** A logger for several copies of a model: what each of them would say is said once. */
import type { Logger } from '../core/index.ts';

/** Passes on what is said; a warning only the first time. */
export function warnOnce(logger: Logger): Logger {
  const said = new Set<string>();
  return {
    error: (message, fields) => logger.error(message, fields),
    warn: (message, fields) => {
      if (said.has(message)) return;
      said.add(message);
      logger.warn(message, fields);
    },
    info: (message, fields) => logger.info(message, fields),
    debug: (message, fields) => logger.debug(message, fields),
  };
}
