/** Load by autocannon (npm, MIT), where it is installed somewhere: another opinion than that of our own load. */
import type { Load } from './load.ts';

/** The part of autocannon 8 that is used. */
type Autocannon = (
  options: object,
  done: (error: Error | null, result: Result) => void,
) => {
  on(event: 'response', listener: (client: unknown, status: number, bytes: number, ms: number) => void): void;
};
type Result = { readonly errors: number; readonly duration: number };

/** What to ask. */
export type AutocannonTask = { readonly url: string; readonly queries: readonly string[]; readonly seconds: number };

const CONNECTIONS = 256;

/** Gives the way to load a server with so many requests a second. Times are from sending to answer. */
export async function autocannonLoad(
  module: string,
  { url, queries, seconds }: AutocannonTask,
): Promise<(perSecond: number) => Promise<Load>> {
  const { default: autocannon }: { default: Autocannon } = await import(module);
  const requests = queries.map((query) => ({ path: `/v1/search?q=${encodeURIComponent(query)}` }));
  return (perSecond) =>
    new Promise((resolve, reject) => {
      const statuses = new Map<number, number>();
      const latenciesMs: number[] = [];
      const cpuBefore = process.cpuUsage();
      const overallRate = Math.round(perSecond);
      const run = autocannon(
        { url, requests, connections: CONNECTIONS, overallRate, duration: seconds },
        (error, result) => {
          if (error) return reject(error);
          if (result.errors > 0) statuses.set(0, result.errors);
          const { user, system } = process.cpuUsage(cpuBefore);
          const load = { latenciesMs, statuses, latenessMs: [], cpuMs: (user + system) / 1000 };
          resolve({ ...load, perSecond: latenciesMs.length / result.duration });
        },
      );
      run.on('response', (_, status, __, ms) => {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 200) latenciesMs.push(ms);
      });
    });
}
