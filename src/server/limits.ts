/** What one client, or all of them, may ask of a server at most. Every number has a default and can be set by name. */
import { z } from 'zod';
import { ConfigError, describeIssues, nearest } from '../core/index.ts';

const KB = 2 ** 10;
const MB = 2 ** 20;

const count = (fallback: number, text: string, most = 1_000_000_000) =>
  z.int().min(1).max(most).default(fallback).describe(text);

/** The limits, each with its default and what it means. */
export const limitsSchema = z.strictObject({
  maxK: count(1000, 'hits that one search may ask for', 10_000),
  maxQueryChars: count(8192, 'characters of a query'),
  maxBodyBytes: count(64 * KB, 'bytes of the body of a search or an explanation'),
  maxWriteBytes: count(16 * MB, 'bytes of the body of a write'),
  maxDocuments: count(500, 'documents of one write: all of them are taken, or none', 512),
  maxRunning: count(64, 'searches and explanations at once; one more is answered 503'),
  maxWriting: count(8, 'writes at once; one more is answered 503'),
  maxDelayMs: count(1000, 'time that the thread of the server may be behind; beyond it searches are answered 503'),
  maxConnections: count(1024, 'open connections; one more is closed'),
  maxHeaderBytes: count(16 * KB, 'bytes of all headers of a request, its address included'),
  answerMs: count(5000, 'time for a search or an explanation, then 504'),
  writeMs: count(60_000, 'time for a write once it has arrived, then 504'),
  headersMs: count(10_000, 'time for the headers of a request to arrive, then 408'),
  requestMs: count(30_000, 'time for a whole request to arrive, then 408'),
  idleMs: count(
    60_000,
    'time without a byte in either direction, then the connection is closed; after a POST or DELETE not before its 504',
  ),
  stopMs: count(10_000, 'time for running requests to end when the server stops'),
});

/** What clients may ask at most. */
export type ServerLimits = Readonly<z.infer<typeof limitsSchema>>;

/** All limits, those that are not given with their defaults. ConfigError where one is unknown or out of its range. */
export function parseLimits(given: Readonly<Record<string, unknown>> = {}): ServerLimits {
  const names = Object.keys(limitsSchema.shape);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new ConfigError(`there is no limit ${JSON.stringify(unknown)}`, {
      hint: hintFor(nearest(unknown, names), names),
    });
  const parsed = limitsSchema.safeParse(given);
  if (!parsed.success) throw new ConfigError(`limits: ${describeIssues(parsed.error.issues)}`);
  return parsed.data;
}

function hintFor(meant: string | undefined, names: readonly string[]): string {
  return meant === undefined ? `limits are ${names.join(', ')}` : `did you mean ${meant}?`;
}
