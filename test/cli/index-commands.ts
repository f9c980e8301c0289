/** The commands on indexes, run inside the test's process on files in a folder of its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { addCommand } from '../../src/cli/add.ts';
import { deleteCommand } from '../../src/cli/delete.ts';
import { encodeCommand } from '../../src/cli/encode.ts';
import { evalCommand } from '../../src/cli/eval.ts';
import { explainCommand } from '../../src/cli/explain.ts';
import { indexCommand } from '../../src/cli/index-command.ts';
import { mergeCommand } from '../../src/cli/merge.ts';
import type { CommandMaker } from '../../src/cli/program.ts';
import { searchCommand } from '../../src/cli/search.ts';
import { statsCommand } from '../../src/cli/stats.ts';
import { verifyCommand } from '../../src/cli/verify.ts';
import type { Hit } from '../../src/engines/index.ts';
import { type fakeHost, type Outcome, runCommands } from './fake-host.ts';

/** All commands that make, change, search or measure indexes. */
export const INDEX_COMMANDS: readonly CommandMaker[] = [
  indexCommand,
  addCommand,
  deleteCommand,
  mergeCommand,
  statsCommand,
  verifyCommand,
  searchCommand,
  explainCommand,
  evalCommand,
  encodeCommand,
];

/** Runs `lzero ARGV…`. */
export function lzero(...argv: string[]): Promise<Outcome> {
  return runCommands(INDEX_COMMANDS, argv);
}

/** Runs `lzero ARGV… --json` and gives the object it printed; an error, with what it said, where it failed. */
export async function lzeroJson(...argv: string[]) {
  const { exitCode, stdout, stderr } = await lzero(...argv, '--json');
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Runs `lzero ARGV…` with a signal; see `fakeHost`. */
export function lzeroUntil(signal: AbortSignal, ...argv: string[]): Promise<Outcome> {
  return runCommands(INDEX_COMMANDS, argv, { signal } satisfies Parameters<typeof fakeHost>[0]);
}

/** The hits of a search as [id, score]. */
export async function hitsOf(index: string, query: string, ...argv: string[]): Promise<[string, number][]> {
  const { hits } = await lzeroJson('search', index, query, ...argv);
  return hits.map(({ id, score }: Hit) => [id, score]);
}

/** Files in a folder that goes away. */
export class Scratch {
  /** The folder. */
  readonly folder = mkdtempSync(join(tmpdir(), 'lzero-cli-'));

  /** Path of a file or folder in it. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file and gives its path. */
  write(name: string, text: string): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** Writes JSON lines and gives the path. */
  writeLines(name: string, records: readonly unknown[]): string {
    return this.write(name, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  }

  /** Removes everything. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
