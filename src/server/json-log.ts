/** A log for programs: one JSON object a line. */
import type { Logger } from '../core/index.ts';

/** How much is written. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

const LEVELS: readonly LogLevel[] = ['error', 'warn', 'info', 'debug'];

/** A logger that gives each message to `write` as a line of JSON: time, level, message, then the fields. */
export function jsonLogger(write: (line: string) => void, level: LogLevel = 'info'): Logger {
  const most = LEVELS.indexOf(level);
  const log =
    (at: LogLevel) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      if (LEVELS.indexOf(at) > most) return;
      write(JSON.stringify({ time: new Date().toISOString(), level: at, message, ...fields }));
    };
  return { error: log('error'), warn: log('warn'), info: log('info'), debug: log('debug') };
}
