/** What a run was made by and on, for whoever looks at its folder later. */
import { availableParallelism } from 'node:os';
import { ENGINE_VERSION } from '../graph/index.ts';
import { packageVersion } from './program.ts';

/** Versions, machine and date. */
export function provenance(): Readonly<Record<string, string>> {
  return {
    lzero: packageVersion(),
    node: process.version,
    engine: `onnxruntime ${ENGINE_VERSION}`,
    machine: `${process.platform} ${process.arch}, ${availableParallelism()} cores`,
    date: new Date().toISOString(),
  };
}
