/** How the library speaks, if it is given somebody to speak to. Silent by default; where words go is the caller's business. */

/** Receives messages. Fields are for programs, the message for people. */
export type Logger = {
  /** Something failed. */
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Something needs attention, but the work goes on. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** What a user wants to know. */
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** What a developer wants to know. */
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
};

const ignore = (): void => {};

/** Says nothing. The default everywhere. */
export const silentLogger: Logger = { error: ignore, warn: ignore, info: ignore, debug: ignore };
