/** Indexes over HTTP: the app, the server around it, and what they are made of. Node only. */
export type { AppOptions, ServerApp } from './app.ts';
export { createApp } from './app.ts';
export type { LogLevel } from './json-log.ts';
export { jsonLogger } from './json-log.ts';
export type { ServerLimits } from './limits.ts';
export { parseLimits } from './limits.ts';
export type { RunningServer, ServeOptions } from './serve.ts';
export { DEFAULT_SERVE_PORT, isLoopback, serve } from './serve.ts';
export type { OpenedIndex, ServedIndexOptions } from './served-index.ts';
export { isIndexName, ServedIndex } from './served-index.ts';
export type { Tokens } from './tokens.ts';
export { checkToken, NO_TOKENS, parseTokens } from './tokens.ts';
