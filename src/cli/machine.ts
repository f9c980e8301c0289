/** Facts about the machine: processor, memory, what can be written. Only looks; changes nothing. */
import { access, constants, readFile } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { errorCode } from '../core/index.ts';

/** Instructions that decide how fast the engine runs: their name here, and in /proc/cpuinfo. */
const CPU_FLAGS = {
  avx2: ['avx2'],
  avx512f: ['avx512f'],
  avx512_vnni: ['avx512_vnni'],
  avx_vnni: ['avx_vnni'],
  amx_int8: ['amx_int8'],
  neon: ['neon', 'asimd'],
} as const;

/** A processor. `flags` is undefined where the system does not tell. */
export type Processor = {
  readonly model: string;
  readonly flags: readonly string[] | undefined;
  /** Cores that this process may use. */
  readonly numCores: number;
};

/** Memory of the machine or, where that is lower, of the container. */
export type Memory = { readonly totalBytes: number; readonly availableBytes: number };

/** The processor of this machine. */
export async function processor(): Promise<Processor> {
  const cpuinfo = await readFile('/proc/cpuinfo', 'utf8').catch(() => undefined);
  return {
    model: cpus()[0]?.model.trim() || 'unknown',
    flags: cpuinfo === undefined ? undefined : cpuFlags(cpuinfo),
    numCores: availableParallelism(),
  };
}

/** The flags that matter to us in the text of /proc/cpuinfo; undefined where it lists none at all. */
export function cpuFlags(cpuinfo: string): string[] | undefined {
  const line = cpuinfo.match(/^(?:flags|Features)\s*:(.*)$/m)?.[1];
  if (line === undefined) return undefined;
  const present = new Set(line.trim().split(/\s+/));
  return Object.entries(CPU_FLAGS)
    .filter(([, names]) => names.some((name) => present.has(name)))
    .map(([flag]) => flag);
}

/** Memory that this process may count on. Without a limit Node reports one beyond any machine. */
export function memory(): Memory {
  const limitBytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return { totalBytes: Math.min(totalmem(), limitBytes), availableBytes: process.availableMemory() };
}

/** Whether a folder can be written, or made where it is absent. */
export async function isWritable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK);
    return true;
  } catch (error) {
    return errorCode(error) === 'ENOENT' && dirname(folder) !== folder && isWritable(dirname(folder));
  }
}
