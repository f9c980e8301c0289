/** How the library speaks, if it is given somebody to speak to. Silent by default; where words go is the caller's business. */

/** Receives messages. Fields are for programs, the message for people. */
export type Logger = {
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
};

const ignore = (): void => {};

/** Says nothing. The default everywhere. */
export const silentLogger: Logger = { error: ignore, warn: ignore, info: ignore, debug: ignore };
